/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files without a name, which go with the process. */
#ifndef XB_BLOOMD_SCRATCHFILE_H
#define XB_BLOOMD_SCRATCHFILE_H

/* In the directory, or in memory if its file system has none without a name. Returns the file,
 * which the caller closes, or -1. */
int scratchfile_open(const char *directory, const char *name);

#endif
