/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --rollback SECONDS: a change on trial, and its commit. */
#ifndef XB_CLI_ROLLBACK_H
#define XB_CLI_ROLLBACK_H

#include "bloomctl/cli.h"

/* For the table of a verb that takes it. */
#define ROLLBACK_OPTION                                                                            \
	{                                                                                          \
		"rollback", "SECONDS", 0,                                                          \
			.help = "undo the change after this time, unless `commit` keeps it"        \
	}

/* Whether the verb takes --rollback: its options say so. */
bool rollback_takes(const struct verb *verb);

/* Takes --rollback out of the arguments. Returns 0, or the exit code. */
int rollback_take(struct cli *cli, int *argc, char **argv);

/*
 * What a command reads whose text may be gone when it is committed: the copy that it keeps for
 * that, or, in a commit, the text that was kept. *fd: open until the end of the process; -1:
 * neither, read the file itself. file: the argument, "-" is standard input.
 */
int rollback_input(struct cli *cli, const char *file, int *fd);

/* Removes a copy that no trial took over. */
void rollback_forget_copy(const struct cli *cli);

/* Tells that there is something to commit. */
void rollback_tell(const struct cli *cli);

#endif
