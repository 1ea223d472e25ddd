/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a feed is fetched next. */
#include "bloomd/feeds/feedplan.h"
#include "support/cmocka.h"

#define HOUR 3600
#define DAY  86400

static uint32_t delay(enum feed_end end, uint32_t every, uint32_t failures, uint32_t after)
{
	return feed_plan_delay(&(struct feed_plan){end, every, failures, after}, 0);
}

/* Jitter: later by up to a tenth, never earlier. */
TEST(the_period_is_kept)
{
	const struct feed_plan plan = {FEED_GOOD, HOUR, 0, 0};

	assert_int_equal(delay(FEED_GOOD, HOUR, 0, 0), HOUR);
	assert_int_equal(delay(FEED_BAD, HOUR, 5, 0), HOUR);
	for (uint32_t random = 0; random < 10000; random += 7)
		assert_in_range(feed_plan_delay(&plan, random * 2654435761U), HOUR,
				HOUR + HOUR / 10);
	assert_int_not_equal(feed_plan_delay(&plan, 1), feed_plan_delay(&plan, 2));
}

TEST(outages_double)
{
	assert_int_equal(delay(FEED_OUTAGE, DAY, 1, 0), 60);
	assert_int_equal(delay(FEED_OUTAGE, DAY, 2, 0), 120);
	assert_int_equal(delay(FEED_OUTAGE, DAY, 6, 0), 1920);
	assert_int_equal(delay(FEED_OUTAGE, DAY, 100, 0), DAY);
	assert_int_equal(delay(FEED_OUTAGE, 1, 1, 0), 1);
	assert_int_equal(delay(FEED_OUTAGE, 1, 4, 0), 8);
	assert_int_equal(delay(FEED_OUTAGE, 1, UINT32_MAX, 0), HOUR);
}

/* Who is not wanted does not come sooner than usual. */
TEST(refusals_double_from_the_period)
{
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, 0), HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 3, 0), 4 * HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 60, 0), DAY);
	assert_int_equal(delay(FEED_REFUSED, 7 * DAY, 60, 0), 7 * DAY);
}

TEST(retry_after_is_honoured_within_bounds)
{
	assert_int_equal(delay(FEED_OUTAGE, HOUR, 1, 300), 300);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, 300), HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, UINT32_MAX), DAY);
}

TEST(unchanged_is_enough_while_entries_live)
{
	assert_true(feed_plan_lasts(1000, 0, HOUR, 1000000000));
	assert_true(feed_plan_lasts(1000, DAY, HOUR, 1000));
	assert_true(feed_plan_lasts(1000, DAY, HOUR, 1000 + 20 * HOUR));
	assert_false(feed_plan_lasts(1000, DAY, HOUR, 1000 + 22 * HOUR));
	assert_false(feed_plan_lasts(1000, 2 * HOUR, HOUR, 1000));
}
