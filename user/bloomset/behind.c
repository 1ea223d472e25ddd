/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/behind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/writeall.h"
#include "bloomset/thread.h"

int behind_open(struct behind *behind, uint64_t memory)
{
	size_t count = memory / BEHIND_ROOM;

	*behind = (struct behind){.fd = -1, .room = BEHIND_ROOM, .count = count};
	pthread_mutex_init(&behind->lock, NULL);
	pthread_cond_init(&behind->changed, NULL);
	behind->bytes = behind->buffers = malloc(count * BEHIND_ROOM);
	behind->sizes = calloc(count, sizeof(*behind->sizes));
	return behind->buffers && behind->sizes ? 0 : xb_out_of_memory();
}

static char *buffer_of(const struct behind *behind, size_t number)
{
	return behind->buffers + number % behind->count * behind->room;
}

static int write_now(int fd, const char *bytes, size_t size)
{
	return xb_write_all(fd, bytes, size) ? 0 : errno;
}

/* The next buffer, without the lock. */
static void write_next(struct behind *behind)
{
	size_t number = behind->written;
	int error = behind->error;

	pthread_mutex_unlock(&behind->lock);
	if (!error)
		error = write_now(behind->fd, buffer_of(behind, number),
				  behind->sizes[number % behind->count]);
	pthread_mutex_lock(&behind->lock);
	behind->error = error;
	behind->written++;
	pthread_cond_signal(&behind->changed);
}

static void *run(void *context)
{
	struct behind *behind = context;

	pthread_mutex_lock(&behind->lock);
	for (;;) {
		while (behind->passed == behind->written)
			thread_wait(&behind->changed, &behind->lock);
		write_next(behind);
	}
	return NULL;
}

/* Until so many buffers at most are not written. */
static int wait_for(struct behind *behind, size_t most)
{
	while (behind->passed - behind->written > most)
		pthread_cond_wait(&behind->changed, &behind->lock);
	return behind->error;
}

static int write_here(struct behind *behind)
{
	if (!behind->error)
		behind->error = write_now(behind->fd, behind->bytes, behind->used);
	behind->used = 0;
	return behind->error;
}

/* One buffer stays for what comes. */
static int pass(struct behind *behind)
{
	int error;

	pthread_mutex_lock(&behind->lock);
	error = wait_for(behind, behind->count - 2);
	if (!error) {
		behind->sizes[behind->passed % behind->count] = behind->used;
		behind->bytes = buffer_of(behind, ++behind->passed);
		behind->used = 0;
		pthread_cond_signal(&behind->changed);
	}
	pthread_mutex_unlock(&behind->lock);
	return error;
}

int behind_pass(struct behind *behind)
{
	if (!behind->runs)
		behind->runs = thread_start(&behind->thread, run, behind);
	return behind->runs ? pass(behind) : write_here(behind);
}

int behind_append(struct behind *behind, const char *bytes, size_t size)
{
	for (size_t part; size; bytes += part, size -= part) {
		int failure = behind->used == behind->room ? behind_pass(behind) : 0;

		if (failure)
			return failure;
		part = behind->room - behind->used;
		part = part < size ? part : size;
		memcpy(behind->bytes + behind->used, bytes, part);
		behind->used += part;
	}
	return 0;
}

int behind_settle(struct behind *behind)
{
	int error;

	if (!behind->runs)
		return write_here(behind);
	error = behind->used ? pass(behind) : 0;
	pthread_mutex_lock(&behind->lock);
	error = error ?: wait_for(behind, 0);
	pthread_mutex_unlock(&behind->lock);
	return error;
}

void behind_close(struct behind *behind)
{
	if (!behind->room)
		return;
	if (behind->runs)
		thread_end(behind->thread);
	pthread_cond_destroy(&behind->changed);
	pthread_mutex_destroy(&behind->lock);
	free(behind->buffers);
	free(behind->sizes);
	*behind = (struct behind){.fd = -1};
}
