/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unix socket at a path that is listened on. Only root and the agent give names in its directory.
 */
#ifndef XB_BLOOMD_LISTENER_H
#define XB_BLOOMD_LISTENER_H

#include <sys/types.h>

#define LISTENER_BACKLOG 4096

/*
 * Makes a socket in a directory that is there. It has the mode from the moment it has a name, and
 * the group that the kernel gives to a new file there. A socket that a killed process has left is
 * replaced; one on which somebody listens, or another file, is not. Returns a descriptor that does
 * not block, or an error with its message: also if somebody else can give names in the directory.
 */
int listener_bind(const char *path, unsigned int mode);

/*
 * The same for the members of a group: nobody can connect before the socket belongs to it. group:
 * name or number; NULL: the group of the directory.
 */
int listener_open(const char *path, unsigned int mode, const char *group);

/* Of a name or a number. */
int listener_group(const char *group, gid_t *id);

/*
 * Changes who may connect to the socket that was bound to this descriptor, wherever its file is by
 * now. path: as it was opened, for the group of its directory and for the message.
 */
int listener_admit(int fd, const char *path, unsigned int mode, const char *group);

/* Closes the descriptor (-1: there is none), and takes the socket away. */
void listener_close(int fd, const char *path);

#endif
