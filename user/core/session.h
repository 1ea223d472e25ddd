/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TCP connection of the SSH session this process descends from. */
#ifndef XB_CORE_SESSION_H
#define XB_CORE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entry.h"

struct xb_session {
	uint32_t pid;	  /* of the SSH server's process for it */
	uint64_t started; /* clock ticks since boot, field 22 of /proc/PID/stat */
	struct xb_entry peer;
	uint16_t peer_port;
};

/*
 * All sessions found among the ancestors, nearest first, at most `room`; usually one. Returns the
 * count, 0 if there is none. Failure: /proc cannot be read. Sees the sockets of the server only
 * with CAP_SYS_PTRACE; else it believes SSH_CONNECTION in the environment.
 */
int xb_session_current(struct xb_session *sessions, size_t room);

/* Whether the process is still there, and still the same. */
bool xb_session_lives(const struct xb_session *session);

#endif
