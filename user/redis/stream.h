/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes to and from the server, by TCP, TLS or a socket of this machine. */
#ifndef XB_REDIS_STREAM_H
#define XB_REDIS_STREAM_H

#include <sys/types.h>

#include "redis/tls.h"

struct stream {
	int fd; /* does not wait; -1: none yet */
	SSL_CTX *context;
	SSL *tls;		       /* NULL: without */
	uint64_t deadline;	       /* CLOCK_MONOTONIC, ms: until it is ready */
	short read_waits, write_waits; /* for poll(): what the next read or write needs */
};

/* Before the sandbox, in which there are no files: TLS, and a socket with a path. False: end says
 * what failed. */
bool stream_prepare(struct stream *stream, const struct redis_target *target,
		    struct redis_end *end);

/* In the sandbox: the name, the connection, the handshake. */
bool stream_open(struct stream *stream, const struct redis_target *target, struct redis_end *end);

#define STREAM_WAIT (-1)
#define STREAM_END  (-2)

/* Returns how many bytes; STREAM_WAIT: none now; STREAM_END: end says why there will be no more. */
ssize_t stream_read(struct stream *stream, void *out, size_t room, struct redis_end *end);
ssize_t stream_write(struct stream *stream, const void *bytes, size_t size, struct redis_end *end);

/* Waits until the descriptor is ready for these events, at most until the deadline. False: it is
 * over; end says so. */
bool stream_wait(const struct stream *stream, short events, struct redis_end *end);

#endif
