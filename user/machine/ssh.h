/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TCP connection of the SSH session this process descends from. */
#ifndef XB_MACHINE_SSH_H
#define XB_MACHINE_SSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entry.h"

struct xb_session {
	uint32_t pid;	  /* of the SSH server's process for it */
	uint64_t started; /* clock ticks since boot, by the kernel's clock */
	struct xb_entry peer;
	uint16_t peer_port;
};

/*
 * All sessions found among the ancestors, nearest first, at most `room`; usually one. Returns the
 * count, 0 if there is none. Failure: /proc cannot be read. Sees the sockets of the server only
 * with CAP_SYS_PTRACE; else it believes SSH_CONNECTION in the environment.
 */
int xb_session_current(struct xb_session *sessions, size_t room);

/* The place from which a process sees others. A session that was seen from another place cannot
 * be looked at from here. */
struct xb_vantage {
	uint8_t boot[16];	/* random, of this boot of the machine */
	uint64_t pid_namespace; /* inode; 0: /proc shows another one, so nobody can be looked at */
};

void xb_vantage_here(struct xb_vantage *vantage);

/* Whether the process is still there, and still the same. */
bool xb_session_lives(const struct xb_session *session);

#endif
