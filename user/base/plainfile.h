/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our files in a directory to which members of a group may write: they may have put something
 * else under the name. */
#ifndef XB_BASE_PLAINFILE_H
#define XB_BASE_PLAINFILE_H

#include <stdbool.h>

/*
 * Opens the file for reading and writing; creates it with mode 0660 if it is not there. Anything
 * but a plain file with one name is an error that says so. Returns a descriptor or a negative
 * errno.
 */
int xb_plainfile_open(const char *path);

/* For files that a library opens by name, or that need not be there: 0, or the same error. */
int xb_plainfile_check(const char *path);

/* Whether this is the file that xb_plainfile_check() saw, or would see. */
bool xb_plainfile_is(const char *path, int fd);

#endif
