/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that are filled ahead come in their order, the last one ends them, and a thread that waits
 * does not hold up the end. */
#include <fcntl.h>
#include <unistd.h>

#include "bloomset/ahead.h"
#include "support/cmocka.h"

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
	const uint32_t *block;

	assert_non_null(ahead);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		block = ahead_next(ahead);
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
