/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unix socket in a directory that is listened on, for the members of a group. */
#ifndef XB_BLOOMD_LISTENER_H
#define XB_BLOOMD_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#define LISTENER_BACKLOG 4096

/*
 * Makes the socket in a directory that is there, and returns its descriptor, or an error with its
 * message. One that a killed process has left there is replaced; one on which somebody listens, or
 * another file, is not. group: name or number; NULL: the group of the directory.
 */
int listener_open(const char *directory, const char *name, unsigned int mode, const char *group);

/* Of a name or a number. */
int listener_group(const char *group, gid_t *id);

/* Changes who may connect. */
int listener_admit(const char *directory, const char *name, unsigned int mode, const char *group);

/* Closes the descriptor (-1: there is none), and takes the socket away. */
void listener_close(int fd, const char *directory, const char *name);

#endif
