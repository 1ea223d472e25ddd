/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process bloomd-redis, and the frames to and from it, without waiting. */
#ifndef XB_BLOOMD_LINKPIPE_H
#define XB_BLOOMD_LINKPIPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bloomd/fleet/linkword.h"
#include "redis/wire.h"

struct linkpipe {
	pid_t child;
	int fd; /* -1: none */
	uint8_t *in, *out;
	size_t in_size, in_room;	     /* what came, and is not taken yet */
	size_t out_begin, out_end, out_room; /* what is not sent yet */
};

/* A frame that came; valid until the next call. */
struct linkframe {
	uint32_t kind; /* any */
	const uint8_t *content;
	size_t size;
};

/* Starts the process. Returns 0, or an error with its message; also then linkpipe_close() frees
 * what there is. */
int linkpipe_open(struct linkpipe *pipe, const struct redis_target *target);

/* Ends the process. Returns its status, as of waitpid(). */
int linkpipe_close(struct linkpipe *pipe);

/* Puts a request among what is to be sent. Returns 0, or an error with its message: then it is as
 * it was. */
int linkpipe_add(struct linkpipe *pipe, const struct link_word *words, size_t count);

static inline bool linkpipe_has_unsent(const struct linkpipe *pipe)
{
	return pipe->out_begin < pipe->out_end;
}

/* Sends what can be sent now. */
void linkpipe_send(struct linkpipe *pipe);

/* Reads some of what is there. Returns 1; 0: the process has closed its end; or an error with its
 * message. */
int linkpipe_read(struct linkpipe *pipe);

/* The first whole frame behind `used` bytes of what was read, which grows by it. Returns 1; 0:
 * there is none; -1: what came is no frame. */
int linkpipe_next(const struct linkpipe *pipe, size_t *used, struct linkframe *frame);

/* Forgets frames that were taken. */
void linkpipe_drop(struct linkpipe *pipe, size_t used);

#endif
