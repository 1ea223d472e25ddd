/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program opens before the sandbox, in which it has neither files nor rights. */
#ifndef XB_SANDBOX_BEFOREHAND_H
#define XB_SANDBOX_BEFOREHAND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BEFOREHAND_SOCKET 108 /* bytes of a path, as of struct sockaddr_un */

/* Reads the beginning of a plain file, without waiting for whatever else stands under the name.
 * Returns how many bytes; -1 with errno after an error. */
ssize_t beforehand_read(const char *path, void *out, size_t room);

/* The same, if its owner alone can read it, who is root or runs this; else errno is EPERM. */
ssize_t beforehand_read_private(const char *path, void *out, size_t room);

/* Connects to a socket at this path, which has that much room, in so many seconds at most. Returns
 * a descriptor that does not wait; -1 with errno after an error. */
int beforehand_connect(const char path[BEFOREHAND_SOCKET], uint32_t seconds);

#endif
