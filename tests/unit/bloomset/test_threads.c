/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads beside the work: blocks that are filled ahead come in their order, and what is written
 * behind arrives as it was passed on; failures are told, and who waits for others, or has nobody
 * who reads, does not hold up the end. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "bloomset/ahead.h"
#include "bloomset/behind.h"
#include "support/cmocka.h"

/* --- ahead --- */

#define BLOCKS 10000

struct counter {
	uint32_t next, last;
	const uint32_t *former;
	uint32_t former_was;
};

static bool count(void *to, void *block)
{
	struct counter *counter = to;

	assert_ptr_not_equal(block, counter->former);
	if (counter->former)
		assert_int_equal(*counter->former, counter->former_was);
	*(uint32_t *)block = counter->former_was = counter->next++;
	counter->former = block;
	return counter->next <= counter->last;
}

TEST(all_in_order)
{
	struct counter counter = {.last = BLOCKS - 1};
	struct ahead *ahead = ahead_open(sizeof(uint32_t), count, &counter);

	assert_non_null(ahead);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		const uint32_t *block = ahead_next(ahead);

		assert_non_null(block);
		assert_int_equal(*block, i);
	}
	for (int i = 0; i < 2; i++)
		assert_null(ahead_next(ahead));
	ahead_close(ahead);
}

static bool wait_for_bytes(void *to, void *block)
{
	return read(*(int *)to, block, 1) == 1;
}

TEST(it_ends_though_nobody_writes)
{
	struct ahead *ahead;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "a", 1), 1);
	ahead = ahead_open(1, wait_for_bytes, &ends[0]);
	assert_non_null(ahead);
	assert_memory_equal(ahead_next(ahead), "a", 1);
	ahead_close(ahead);
	ahead_close(NULL);
	close(ends[0]);
	close(ends[1]);
}

/* --- behind --- */

#define NUMBERS 1000000U

/* The numbers from 0 on. Some buffers are passed on before they are full. */
static void put_numbers(struct behind *behind)
{
	for (uint32_t i = 0; i < NUMBERS; i++) {
		if (i % 200003 == 7)
			assert_int_equal(behind_pass(behind), 0);
		assert_int_equal(behind_append(behind, (const char *)&i, sizeof(i)), 0);
	}
	assert_int_equal(behind_settle(behind), 0);
}

static void check_numbers(int fd)
{
	uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers));

	assert_non_null(numbers);
	assert_int_equal(lseek(fd, 0, SEEK_END), NUMBERS * sizeof(*numbers));
	assert_int_equal(pread(fd, numbers, NUMBERS * sizeof(*numbers), 0),
			 NUMBERS * sizeof(*numbers));
	for (uint32_t i = 0; i < NUMBERS; i++)
		assert_int_equal(numbers[i], i);
	free(numbers);
}

TEST(all_of_it_in_order)
{
	for (uint64_t memory = BEHIND_LEAST; memory <= 4 * BEHIND_LEAST; memory *= 2) {
		struct behind behind;
		int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
		assert_int_equal(behind_open(&behind, memory), 0);
		behind.fd = fd;
		put_numbers(&behind);
		check_numbers(fd);
		behind_close(&behind);
		close(fd);
	}
}

static void open_to(struct behind *behind, int fd)
{
	assert_true(fd >= 0);
	assert_int_equal(behind_open(behind, BEHIND_LEAST), 0);
	behind->fd = fd;
}

static void open_pipe(struct behind *behind, int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	open_to(behind, ends[1]);
}

static void close_pipe(struct behind *behind, int ends[2])
{
	behind_close(behind);
	close(ends[0]);
	close(ends[1]);
}

/* Few bytes need no thread. */
TEST(what_fits_a_buffer)
{
	char text[8] = "";
	struct behind behind;
	int ends[2];

	open_pipe(&behind, ends);
	assert_int_equal(behind_append(&behind, "text", 4), 0);
	assert_int_equal(behind_settle(&behind), 0);
	assert_false(behind.runs);
	assert_int_equal(behind_settle(&behind), 0);
	assert_int_equal(read(ends[0], text, sizeof(text)), 4);
	assert_string_equal(text, "text");
	close_pipe(&behind, ends);
}

static int fill_until_it_fails(struct behind *behind)
{
	int failure = 0;

	for (int i = 0; !failure && i < 10; i++) {
		memset(behind->bytes, 'x', behind->room);
		behind->used = behind->room;
		failure = behind_pass(behind);
	}
	assert_int_equal(behind_settle(behind), failure);
	return failure;
}

TEST(failures_are_told)
{
	struct behind behind;
	int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	open_to(&behind, full);
	assert_int_equal(fill_until_it_fails(&behind), ENOSPC);
	behind_close(&behind);
	close(full);
	open_pipe(&behind, ends);
	close(ends[0]);
	assert_int_equal(fill_until_it_fails(&behind), EPIPE);
	behind_close(&behind);
	close(ends[1]);
}

/* A pipe takes 64 KiB until somebody reads. */
TEST(it_ends_though_nobody_reads)
{
	struct behind behind;
	int ends[2];

	open_pipe(&behind, ends);
	behind.used = behind.room;
	memset(behind.bytes, 'x', behind.room);
	assert_int_equal(behind_pass(&behind), 0);
	close_pipe(&behind, ends);
	behind_close(&(struct behind){0});
}

BEFORE_MAIN(prepare)
{
	signal(SIGPIPE, SIG_IGN);
}
