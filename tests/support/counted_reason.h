/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason under which one frame was counted, from the statistics before and after it. */
#ifndef XB_TESTS_COUNTED_REASON_H
#define XB_TESTS_COUNTED_REASON_H

#include "model/reason.h"
#include "support/cmocka.h"
#include "xdp_bloom/layout.h"

/* The test fails unless it was exactly one frame, under one reason. */
static inline enum xb_reason counted_reason(const struct xb_counts *before,
					    const struct xb_counts *after)
{
	int found = -1;

	for (int i = 0; i < XB_REASON_COUNT; i++) {
		if (after->reason[i].packets == before->reason[i].packets)
			continue;
		assert_int_equal(after->reason[i].packets, before->reason[i].packets + 1);
		assert_int_equal(found, -1);
		found = i;
	}
	assert_int_not_equal(found, -1);
	return (enum xb_reason)found;
}

#endif
