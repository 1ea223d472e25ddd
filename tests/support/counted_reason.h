/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason under which one frame was counted, from the statistics before and after it. */
#ifndef XB_TESTS_COUNTED_REASON_H
#define XB_TESTS_COUNTED_REASON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/reason.h"
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

/* The test fails unless it was one frame of so many bytes under this reason; name: of the frame. */
static inline void counted_as(const char *name, const struct xb_counts *before,
			      const struct xb_counts *after, enum xb_reason reason, uint32_t size)
{
	for (unsigned int i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t packets = after->reason[i].packets - before->reason[i].packets;
		uint64_t bytes = after->reason[i].bytes - before->reason[i].bytes;
		uint64_t one = i == reason;

		if (packets != one || bytes != one * size)
			fail_msg("%s: %lu packets, %lu bytes counted as %s; expected is %s", name,
				 packets, bytes, xb_reason_name(i), xb_reason_name(reason));
	}
}

#endif
