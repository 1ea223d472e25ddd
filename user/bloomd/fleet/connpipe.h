/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process bloomd-redis, and the frames to and from it, without waiting. */
#ifndef XB_BLOOMD_CONNPIPE_H
#define XB_BLOOMD_CONNPIPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bloomd/fleet/connword.h"
#include "redis/wire.h"

struct connpipe {
	pid_t child;
	int fd; /* -1: none */
	uint8_t *in, *out;
	size_t in_size, in_room;	     /* what came, and is not taken yet */
	size_t out_begin, out_end, out_room; /* what is not sent yet */
};

/* A frame that came; valid until the next call. */
struct connframe {
	uint32_t kind; /* any */
	const uint8_t *content;
	size_t size;
};

/* Starts the process. Returns 0, or an error with its message; also then connpipe_close() frees
 * what there is. */
int connpipe_open(struct connpipe *pipe, const struct redis_target *target);

/* Ends the process. Returns its status, as of waitpid(). */
int connpipe_close(struct connpipe *pipe);

/* Puts a request among what is to be sent. Returns 0, or an error with its message: then it is as
 * it was. */
int connpipe_add(struct connpipe *pipe, const struct conn_word *words, size_t count);

static inline bool connpipe_has_unsent(const struct connpipe *pipe)
{
	return pipe->out_begin < pipe->out_end;
}

/* Sends what can be sent now. */
void connpipe_send(struct connpipe *pipe);

/* Reads some of what is there. Returns 1; 0: the process has closed its end; or an error with its
 * message. */
int connpipe_read(struct connpipe *pipe);

/* The first whole frame behind `used` bytes of what was read, which grows by it. Returns 1; 0:
 * there is none; -1: what came is no frame. */
int connpipe_next(const struct connpipe *pipe, size_t *used, struct connframe *frame);

/* Forgets frames that were taken. */
void connpipe_drop(struct connpipe *pipe, size_t used);

#endif
