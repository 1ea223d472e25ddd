/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --rollback SECONDS: a change on trial, and its commit. */
#ifndef XB_CLI_ROLLBACK_H
#define XB_CLI_ROLLBACK_H

#include "cli.h"
#include "core/writer.h"

/* Whether the verb takes --rollback: its usage line says so. */
bool rollback_takes(const struct verb *verb);

/* Takes --rollback out of the arguments and notes the rest as what `commit` will repeat. Returns 0,
 * or the exit code. */
int rollback_take(struct cli *cli, int *argc, char **argv);

/* xb_write(), on trial if that is asked for, as a commit if it is one. */
int rollback_write(const struct cli *cli, unsigned int how,
		   int (*body)(struct xb_writer *writer, void *context), void *context);

/*
 * For a command whose text may be gone when it is committed: keeps a copy, from which it reads
 * itself. *file: the argument, "-" is standard input.
 */
int rollback_keep_input(struct cli *cli, char **file);

/* The copy, or the file itself when nothing is tried. */
const char *rollback_source(const struct cli *cli, const char *file);

/* From now on `commit` reads the copy: call it when the text has been read. */
void rollback_use_copy(const struct cli *cli, char **file);

/* Removes a copy that no trial took over. */
void rollback_forget_copy(const struct cli *cli);

/* Tells that there is something to commit. */
void rollback_tell(const struct cli *cli);

#endif
