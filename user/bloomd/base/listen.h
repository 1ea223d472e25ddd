/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the agent can be reached: an address and a port, or a path. */
#ifndef XB_BLOOMD_LISTEN_H
#define XB_BLOOMD_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_un path;
		struct sockaddr_storage room;
	} socket;
	socklen_t size;
};

/* Reads "192.0.2.1:9101", "[::1]:9101" or "unix:/PATH". Returns 0 or an error with its message. */
int listen_parse(const char *text, struct listen_address *address);

/* Whether it is a path or an address that other machines do not reach. */
bool listen_is_local(const struct listen_address *address);
bool listen_is_same(const struct listen_address *a, const struct listen_address *b);

/* A listening socket that does not block, or an error with its message. text: for that. At a path
 * it is made by listener_bind(), open to its owner and group. */
int listen_open(const struct listen_address *address, const char *text);

/* Closes it, and removes its path. */
void listen_close(int listener, const struct listen_address *address);

#endif
