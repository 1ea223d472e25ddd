/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One watcher of drops, of test runs that come in through the loopback as if it were attached. */
#ifndef XB_TESTS_DROPS_WORLD_H
#define XB_TESTS_DROPS_WORLD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <time.h>

#include "attach/drops.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/rig.h"

static struct rig rig;
static int program;
static struct xb_drops watcher;
static bool watching;

struct seen {
	struct xb_drop last;
	unsigned int count, end; /* end: the drop at which to stop; 0: none */
};

static inline int see(const struct xb_drop *drop, void *context)
{
	struct seen *seen = context;

	seen->last = *drop;
	return ++seen->count == seen->end ? -ECANCELED : 0;
}

/* Test runs come in through the loopback: it stands for an attached interface. */
static inline void pretend_attached(bool attached)
{
	uint32_t loopback = if_nametoindex("lo");
	struct xb_anchor anchor;

	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(attached ? xb_anchor_enrol(&anchor, loopback, "lo")
				  : xb_anchor_dismiss(&anchor, loopback),
			 0);
	xb_anchor_close(&anchor);
}

static inline void start(uint32_t rate, struct seen *seen)
{
	*seen = (struct seen){0};
	pretend_attached(true);
	if (xb_drops_open(&watcher, rig.pins, rate, see, seen))
		fail_msg("%s", xb_error_message());
	watching = true;
}

static inline void stop(void)
{
	xb_drops_close(&watcher);
	watching = false;
}

/* Of a test that failed. */
static inline int clear(void **state)
{
	if (watching)
		stop();
	return 0;
}

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline void poll_for(unsigned int milliseconds)
{
	uint64_t end = now() + milliseconds * 1000000ULL;

	do
		assert_int_equal(xb_drops_poll(&watcher), 0);
	while (now() < end);
}

static inline int begin(void **state)
{
	rig_begin(&rig, "watch");
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "2001:db8::bad", "default");
	program = rig_entry(&rig);
	return 0;
}

static inline int end(void **state)
{
	pretend_attached(false);
	close(program);
	rig_end(&rig);
	return 0;
}

#endif
