/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedplan.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t doubled(uint64_t first, uint32_t failures, uint64_t limit)
{
	uint32_t times = failures ? failures - 1 : 0;

	return least(first << least(times, 24), limit);
}

uint32_t feed_plan_delay(const struct feed_plan *plan, uint32_t random)
{
	uint64_t every = plan->every, delay = every;

	if (plan->end == FEED_OUTAGE)
		delay = doubled(least(every, FEED_RETRY), plan->failures,
				most(every, FEED_RETRY_MAX));
	else if (plan->end == FEED_REFUSED)
		delay = doubled(every, plan->failures, most(every, FEED_REFUSED_MAX));
	delay = most(delay, least(plan->retry_after, FEED_REFUSED_MAX));
	return (uint32_t)(delay + random % (delay / 10 + 1));
}

bool feed_plan_lasts(int64_t imported, uint32_t timeout, uint32_t every, int64_t now)
{
	return !timeout || imported + timeout > now + 2 * ((int64_t)every + every / 10 + 1);
}
