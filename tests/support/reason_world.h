/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installation of a group of tests, and the reason that it counts a frame as. */
#ifndef XB_TESTS_REASON_WORLD_H
#define XB_TESTS_REASON_WORLD_H

#include <unistd.h>

#include <linux/bpf.h>

#include "support/cmocka.h"
#include "support/counted_reason.h"
#include "support/rig.h"

static struct rig rig;
static int program;

static inline int begin(void **state)
{
	rig_begin(&rig, "allow");
	program = rig_entry(&rig);
	return 0;
}

static inline int end(void **state)
{
	close(program);
	rig_end(&rig);
	return 0;
}

/* The reason a frame from this address is counted as. */
static inline int reason_of(const struct xb_entry *address)
{
	struct xb_counts before, after;
	enum xb_reason found;
	uint32_t verdict;

	rig_counts(&rig, &before);
	verdict = rig_run_from(program, address);
	rig_counts(&rig, &after);
	found = counted_reason(&before, &after);
	assert_int_equal(verdict, xb_reason_drops(found) ? XDP_DROP : XDP_PASS);
	return found;
}

#endif
