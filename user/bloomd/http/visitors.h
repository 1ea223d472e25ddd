/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is connected to the web server, and who has to leave for others. A limit that refuses the
 * next client would let idle ones shut others out; so the oldest connection ends instead: of the
 * same address, when that has VISITORS_OF_ONE, or of all.
 */
#ifndef XB_BLOOMD_VISITORS_H
#define XB_BLOOMD_VISITORS_H

#include <stdint.h>
#include <sys/socket.h>

#define VISITORS_MAX	64
#define VISITORS_OF_ONE 32
#define VISITORS_STAY	15 /* seconds; a request takes milliseconds */

struct visitor {
	int fd; /* not owned; -1: free */
	uint64_t since;
	uint8_t address[16]; /* all zero: of a Unix socket */
};

struct visitors {
	struct visitor visitor[VISITORS_MAX];
};

void visitors_begin(struct visitors *visitors);

/* A connection that was accepted; now: seconds of any clock that only goes on. Ends another one if
 * need be, by shutdown(2), and takes its place. */
void visitors_enter(struct visitors *visitors, int fd, const struct sockaddr *address,
		    uint64_t now);

/* A connection that is about to be closed. */
void visitors_leave(struct visitors *visitors, int fd);

/* Ends those that have been here for too long. Returns when that is due next, 0: for nobody. */
uint64_t visitors_tire(struct visitors *visitors, uint64_t now);

#endif
