/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the run directory, by which bloomd tells others what it knows. They begin anew with the
 * machine. */
#ifndef XB_BASE_RUNFILE_H
#define XB_BASE_RUNFILE_H

#include <stddef.h>

/* Puts a file with this text in the place of the former one; makes the directory if it is not
 * there. Returns 0 or an error with its message. */
int xb_runfile_replace(const char *run, const char *name, const char *text);

/*
 * Opens the file if it is a plain one of at most so many bytes. Returns a descriptor, -ENOENT
 * without a message if there is none, or another error with its message.
 */
int xb_runfile_open(const char *run, const char *name, size_t most);

/* Removes it, if it can. */
void xb_runfile_remove(const char *run, const char *name);

#endif
