/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes to a file one after the other, in a thread of its own, while the next bytes come. */
#ifndef XB_BLOOMSET_BEHIND_H
#define XB_BLOOMSET_BEHIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller may append to `bytes` himself, up to `room`. */
struct behind {
	int fd; /* the caller sets it before the first pass, and closes it */
	char *bytes;
	size_t used, room;
	char *buffers; /* `count` of `room`, one of them `bytes` */
	size_t count;
	size_t *sizes;		/* of what was passed on */
	bool runs;		/* there is a thread; under the lock: */
	size_t passed, written; /* buffers */
	int error;		/* errno of the first write that failed */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

#define BEHIND_ROOM  (1U << 18)
#define BEHIND_LEAST ((uint64_t)2 * BEHIND_ROOM)
#define BEHIND_MOST  ((uint64_t)64 << 20)

/* What is worth it, of so much memory; 0: too little to write behind. */
static inline uint64_t behind_memory(uint64_t memory)
{
	uint64_t share = memory / 128;

	return share < BEHIND_LEAST ? 0 : share > BEHIND_MOST ? BEHIND_MOST : share;
}

/* memory: bytes that it may take, BEHIND_LEAST or more: so much can come at once without waiting
 * for the disk. Returns 0 or an error with its message. */
int behind_open(struct behind *behind, uint64_t memory);

/* Appends bytes, of which full buffers are passed on; passes on what was appended; waits until all
 * is written. They return 0 or the errno, positive, of a write that failed, without a message. */
int behind_append(struct behind *behind, const char *bytes, size_t size);
int behind_pass(struct behind *behind);
int behind_settle(struct behind *behind);

/* What was not settled may be lost. Also of one that is all zero. */
void behind_close(struct behind *behind);

#endif
