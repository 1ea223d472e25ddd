/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that the kernel writes while they are read. */
#ifndef XB_BASE_PROCFILE_H
#define XB_BASE_PROCFILE_H

#include <stdint.h>
#include <sys/types.h>

/* Reads such a file, or its first size - 1 bytes, at once, so that all of it is of one moment, and
 * ends it with '\0'. Returns its bytes, or -1 with errno set, then text is "". */
ssize_t xb_procfile_read(const char *path, char *text, size_t size);

/* The inode of our own PID namespace; 0 with errno set: /proc does not tell. */
uint64_t xb_pid_namespace(void);

#endif
