/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "bloomset/thread.h"

#define BLOCKS 2

struct ahead {
	ahead_filler *fill;
	void *to;
	bool runs; /* there is a thread */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int filled, taken; /* blocks, */
	bool ended;		    /* nothing is filled any more; both under the lock */
	bool looked_at;		    /* the block that was taken last */
	size_t size;
	char *blocks;
};

static void *block(const struct ahead *ahead, unsigned int number)
{
	return ahead->blocks + number % BLOCKS * ahead->size;
}

static void *run(void *context)
{
	struct ahead *ahead = context;
	bool more = true;

	while (more) {
		pthread_mutex_lock(&ahead->lock);
		while (ahead->filled - ahead->taken == BLOCKS)
			thread_wait(&ahead->changed, &ahead->lock);
		pthread_mutex_unlock(&ahead->lock);
		more = ahead->fill(ahead->to, block(ahead, ahead->filled));
		pthread_mutex_lock(&ahead->lock);
		ahead->filled++;
		ahead->ended = !more;
		pthread_cond_signal(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
	}
	return NULL;
}

struct ahead *ahead_open(size_t size, ahead_filler *fill, void *to)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));

	if (ahead)
		ahead->blocks = calloc(BLOCKS, size);
	if (!ahead || !ahead->blocks) {
		free(ahead);
		xb_out_of_memory();
		return NULL;
	}
	ahead->fill = fill;
	ahead->to = to;
	ahead->size = size;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	ahead->runs = thread_start(&ahead->thread, run, ahead);
	return ahead;
}

/* Where there is no thread. */
static void fill_here(struct ahead *ahead)
{
	if (ahead->runs || ahead->ended)
		return;
	ahead->ended = !ahead->fill(ahead->to, block(ahead, ahead->filled));
	ahead->filled++;
}

const void *ahead_next(struct ahead *ahead)
{
	bool any;

	fill_here(ahead);
	pthread_mutex_lock(&ahead->lock);
	if (ahead->looked_at) {
		ahead->taken++;
		pthread_cond_signal(&ahead->changed);
	}
	while (ahead->filled == ahead->taken && !ahead->ended)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	any = ahead->filled != ahead->taken;
	pthread_mutex_unlock(&ahead->lock);
	ahead->looked_at = any;
	return any ? block(ahead, ahead->taken) : NULL;
}

void ahead_close(struct ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->runs)
		thread_end(ahead->thread);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->blocks);
	free(ahead);
}
