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

static void the_period_is_kept(void **state)
{
	assert_int_equal(delay(FEED_GOOD, HOUR, 0, 0), HOUR);
	assert_int_equal(delay(FEED_BAD, HOUR, 5, 0), HOUR);
	/* Jitter: later by up to a tenth, never earlier. */
	for (uint32_t random = 0; random < 10000; random += 7) {
		uint32_t seconds = feed_plan_delay(&(struct feed_plan){FEED_GOOD, HOUR, 0, 0},
						   random * 2654435761U);

		assert_in_range(seconds, HOUR, HOUR + HOUR / 10);
	}
	assert_int_not_equal(feed_plan_delay(&(struct feed_plan){FEED_GOOD, HOUR, 0, 0}, 1),
			     feed_plan_delay(&(struct feed_plan){FEED_GOOD, HOUR, 0, 0}, 2));
}

static void outages_double(void **state)
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
static void refusals_double_from_the_period(void **state)
{
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, 0), HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 3, 0), 4 * HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 60, 0), DAY);
	assert_int_equal(delay(FEED_REFUSED, 7 * DAY, 60, 0), 7 * DAY);
}

static void retry_after_is_honoured_within_bounds(void **state)
{
	assert_int_equal(delay(FEED_OUTAGE, HOUR, 1, 300), 300);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, 300), HOUR);
	assert_int_equal(delay(FEED_REFUSED, HOUR, 1, UINT32_MAX), DAY);
}

static void unchanged_is_enough_while_entries_live(void **state)
{
	assert_true(feed_plan_lasts(1000, 0, HOUR, 1000000000));
	assert_true(feed_plan_lasts(1000, DAY, HOUR, 1000));
	assert_true(feed_plan_lasts(1000, DAY, HOUR, 1000 + 20 * HOUR));
	assert_false(feed_plan_lasts(1000, DAY, HOUR, 1000 + 22 * HOUR));
	assert_false(feed_plan_lasts(1000, 2 * HOUR, HOUR, 1000));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_period_is_kept),
	cmocka_unit_test(outages_double),
	cmocka_unit_test(refusals_double_from_the_period),
	cmocka_unit_test(retry_after_is_honoured_within_bounds),
	cmocka_unit_test(unchanged_is_enough_while_entries_live),
};

TEST_MAIN(tests, NULL, NULL)
