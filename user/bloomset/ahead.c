/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/thread.h"

#define BLOCKS	    2
#define BLOCK_BYTES (512U << 10)

struct block {
	ssize_t size; /* as xb_unpack_read() gave it: 0: the end; negative: an error, */
	enum xb_error_class class;
	char message[1024]; /* with this message */
	uint64_t done;	    /* bytes of the file */
	char bytes[BLOCK_BYTES];
};

struct ahead {
	struct xb_unpack *unpack;
	bool runs; /* there is a thread */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int filled, taken; /* blocks, under the lock */
	size_t at;		    /* in the block that is taken */
	uint64_t done;
	struct block block[BLOCKS];
};

static void fill(struct ahead *ahead, struct block *block)
{
	block->size = xb_unpack_read(ahead->unpack, block->bytes, sizeof(block->bytes));
	block->done = xb_unpack_done(ahead->unpack);
	if (block->size >= 0)
		return;
	block->class = xb_error_class();
	strncpy(block->message, xb_error_message(), sizeof(block->message) - 1);
}

static void *run(void *context)
{
	struct ahead *ahead = context;
	struct block *block;

	do {
		pthread_mutex_lock(&ahead->lock);
		while (ahead->filled - ahead->taken == BLOCKS)
			thread_wait(&ahead->changed, &ahead->lock);
		pthread_mutex_unlock(&ahead->lock);
		block = &ahead->block[ahead->filled % BLOCKS];
		fill(ahead, block);
		pthread_mutex_lock(&ahead->lock);
		ahead->filled++;
		pthread_cond_signal(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
	} while (block->size > 0);
	return NULL;
}

struct ahead *ahead_open(struct xb_unpack *unpack)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead) {
		xb_out_of_memory();
		return NULL;
	}
	ahead->unpack = unpack;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	ahead->runs = thread_start(&ahead->thread, run, ahead);
	return ahead;
}

/* The block that is to be taken, once it is filled. */
static const struct block *wait_for_block(struct ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	while (ahead->filled == ahead->taken)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
	return &ahead->block[ahead->taken % BLOCKS];
}

static void end_block(struct ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->taken++;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	ahead->at = 0;
}

static int fail(const struct block *block)
{
	if (block->class == XB_ERROR_INPUT)
		return xb_input_error("%s", block->message);
	xb_system_error(0, "%s", block->message);
	return (int)block->size;
}

ssize_t ahead_read(struct ahead *ahead, char *out, size_t room)
{
	const struct block *block;
	size_t size;

	if (!ahead->runs)
		return xb_unpack_read(ahead->unpack, out, room);
	block = wait_for_block(ahead);
	ahead->done = block->done;
	if (block->size <= 0)
		return block->size ? fail(block) : 0;
	size = (size_t)block->size - ahead->at;
	size = size < room ? size : room;
	memcpy(out, block->bytes + ahead->at, size);
	ahead->at += size;
	if (ahead->at == (size_t)block->size)
		end_block(ahead);
	return (ssize_t)size;
}

uint64_t ahead_done(const struct ahead *ahead)
{
	return ahead->runs ? ahead->done : xb_unpack_done(ahead->unpack);
}

void ahead_close(struct ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->runs)
		thread_end(ahead->thread);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}
