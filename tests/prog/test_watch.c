/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many drops the kernel tells, to whom, and how long. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <pthread.h>

#include "attach/drops.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/drops_world.h"

static void drop_one(void)
{
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_DROP);
}

static void drop_many(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		drop_one();
}

/* All of the rate at once, then its tenth at a time, and in no second more than the rate. */
TEST(the_rate)
{
	struct seen seen;
	uint64_t untold;
	unsigned int told = 0;

	start(50, &seen);
	drop_many(300);
	poll_for(50);
	assert_int_equal(seen.count, 50);
	poll_for(600);
	drop_many(100);
	poll_for(50);
	assert_int_equal(seen.count, 50);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 350);
	for (int i = 0; i < 5; i++) {
		told = seen.count;
		drop_many(20);
		poll_for(101);
		assert_in_range(seen.count - told, 0, 50);
	}
	/* Each wait holds a refill; the first second's budget comes back after eleven. */
	for (int i = 0; i < 2 + XB_DROPS_TICKS; i++)
		poll_for(101);
	told = seen.count;
	drop_many(60);
	poll_for(50);
	assert_int_equal(seen.count - told, 50);
	stop();
}

static void *flood(void *ended)
{
	while (!__atomic_load_n((bool *)ended, __ATOMIC_RELAXED)) {
		drop_one();
		usleep(500);
	}
	return NULL;
}

#define REFILLS 30

static void poll_until_refill(void)
{
	unsigned int tick = watcher.tick;

	while (watcher.tick == tick)
		assert_int_equal(xb_drops_poll(&watcher), 0);
}

/* Whether it was a flood all the while, in which each refill finds the budget used up. */
static bool watch_a_flood(struct seen *seen)
{
	unsigned int told[REFILLS], second = 0, before;
	bool ended = false, dry[REFILLS], is_flood = true;
	pthread_t thread;

	start(40, seen);
	assert_int_equal(pthread_create(&thread, NULL, flood, &ended), 0);
	for (int i = 0; i < REFILLS; i++) {
		before = seen->count;
		poll_until_refill();
		told[i] = seen->count - before;
		dry[i] = watcher.dry;
		is_flood &= dry[i];
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	stop();
	for (int i = 0; i < REFILLS; i++) {
		second += told[i] - (i >= 9 ? told[i - 9] : 0);
		if (second > 40)
			fail_msg("%u told in less than a second", second);
		if (i >= 1 && dry[i - 1] && dry[i] && told[i] > 8)
			fail_msg("%u told at once", told[i]);
	}
	return is_flood;
}

/* A flood that does not end: every second the rate, and after the first one spread over it. */
TEST(the_rate_in_a_flood)
{
	struct seen seen;
	int busy = 0;

	/* Once, but on a busy machine, where nothing may be sent for a while. */
	while (!watch_a_flood(&seen))
		assert_true(++busy < 20);
	assert_in_range(seen.count, 100, 124);
}

/* Nothing was left out: nothing is said to be, however much was told. */
TEST(nothing_untold)
{
	struct seen seen;
	uint64_t untold;

	start(1000, &seen);
	drop_many(500);
	/* They are on the way. */
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 0);
	poll_for(150);
	assert_int_equal(seen.count, 500);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold, 0);
	stop();
}

TEST(only_attached_interfaces)
{
	struct seen seen;

	start(100, &seen);
	pretend_attached(false);
	drop_many(3);
	poll_for(150);
	assert_int_equal(seen.count, 0);
	pretend_attached(true);
	drop_many(3);
	poll_for(150);
	assert_int_equal(seen.count, 3);
	stop();
}

/* What one watcher was told and did not read is not for the next. */
TEST(leftovers)
{
	struct seen seen;

	start(100, &seen);
	drop_many(10);
	stop();
	drop_many(10);
	start(100, &seen);
	poll_for(150);
	assert_int_equal(seen.count, 0);
	drop_one();
	poll_for(50);
	assert_int_equal(seen.count, 1);
	stop();
}

/* A ring as full as one that nobody read for long. */
TEST(full_ring)
{
	struct seen seen;
	uint64_t untold;

	start(XB_DROPS_RATE_MAX, &seen);
	drop_many(9000);
	poll_for(50);
	assert_in_range(seen.count, 4000, 4100);
	drop_many(100);
	poll_for(150);
	assert_in_range(seen.count, 4100, 4200);
	drop_many(100000);
	poll_for(150);
	assert_int_equal(xb_drops_untold(&watcher, &untold), 0);
	assert_int_equal(untold + seen.count, 109100);
	stop();
}

TEST(see_ends_the_poll)
{
	struct seen seen;

	start(100, &seen);
	seen.end = 2;
	drop_many(5);
	assert_int_equal(xb_drops_poll(&watcher), -ECANCELED);
	assert_int_equal(seen.count, 2);
	stop();
}

TEST(one_watcher)
{
	struct xb_drops second;
	struct xb_anchor anchor;
	struct seen seen;
	uint32_t zero = 0;
	int64_t budget;

	start(100, &seen);
	xb_error_clear();
	assert_true(xb_drops_open(&second, rig.pins, 100, see, &seen) < 0);
	assert_non_null(strstr(xb_error_message(), "another"));
	drop_one();
	poll_for(50);
	assert_int_equal(seen.count, 1);
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(bpf_map_lookup_elem(anchor.watch, &zero, &budget), 0);
	xb_anchor_close(&anchor);
	assert_int_equal(budget, 99);
	stop();
	assert_int_equal(xb_drops_open(&second, rig.pins, 100, see, &seen), 0);
	xb_drops_close(&second);
}

TEST(no_link)
{
	struct seen seen;

	xb_error_clear();
	assert_int_equal(xb_drops_open(&watcher, rig.state, 100, see, &seen), -ENOENT);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

EACH_TEST(NULL, clear);
ALL_TESTS(begin, end);
