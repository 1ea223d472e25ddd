/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files without a name, which go with the process. */
#ifndef XB_BLOOMD_SCRATCHFILE_H
#define XB_BLOOMD_SCRATCHFILE_H

#include <stdbool.h>
#include <stddef.h>

/* In the directory, or in memory if its file system has none without a name. Returns the file,
 * which the caller closes, or -1. */
int scratchfile_open(const char *directory, const char *name);

/* Writes all of it where the file stands; false: errno says why. */
bool scratchfile_append(int file, const void *bytes, size_t size);

#endif
