/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the server is asked: after answers, after failures, and never all at once. */
#include "bloomd/crowdsec/csplan.h"
#include "support/cmocka.h"

static uint64_t after(uint32_t failures, bool refused, uint32_t retry_after, uint32_t random)
{
	struct csplan plan = {
		.every = 10, .failures = failures, .refused = refused, .retry_after = retry_after};

	return csplan_delay(&plan, random);
}

TEST(delays)
{
	assert_int_equal(after(0, false, 0, 0), 10000);
	assert_int_equal(after(0, false, 0, 1000), 11000);
	assert_int_equal(after(1, false, 0, 0), 10000);
	assert_int_equal(after(2, false, 0, 0), 20000);
	assert_int_equal(after(3, false, 0, 0), 40000);
	assert_int_equal(after(4, false, 0, 0), 60000);
	assert_int_equal(after(UINT32_MAX, false, 0, 15000), 75000);
	assert_int_equal(after(UINT32_MAX, true, 0, 0), 900000);
	assert_int_equal(after(1, true, 120, 0), 120000);
	assert_int_equal(after(1, true, UINT32_MAX, 0), 3600000);
	/* A good answer has nothing to wait for. */
	assert_int_equal(after(0, false, 120, 0), 10000);
	assert_int_equal(csplan_resync(7200, 0), 7200000);
	assert_int_equal(csplan_resync(7200, 720000), 7920000);
}

TEST(bounds)
{
	for (uint64_t random = 0; random <= UINT32_MAX; random += 65521) {
		assert_in_range(after(0, false, 0, (uint32_t)random), 10000, 11000);
		assert_in_range(after(3, false, 0, (uint32_t)random), 40000, 50000);
		assert_in_range(csplan_resync(7200, (uint32_t)random), 7200000, 7920000);
	}
}
