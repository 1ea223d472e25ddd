/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedplan.h"

#include "bloomd/base/delay.h"

uint32_t feed_plan_delay(const struct feed_plan *plan, uint32_t random)
{
	uint64_t every = plan->every, delay = every;

	if (plan->end == FEED_OUTAGE)
		delay = delay_doubled(delay_least(every, FEED_RETRY), plan->failures,
				      delay_most(every, FEED_RETRY_MAX));
	else if (plan->end == FEED_REFUSED)
		delay = delay_doubled(every, plan->failures, delay_most(every, FEED_REFUSED_MAX));
	delay = delay_most(delay, delay_least(plan->retry_after, FEED_REFUSED_MAX));
	return (uint32_t)delay_spread(delay, 10, random);
}

uint64_t feed_plan_horizon(uint32_t every)
{
	return 2 * ((uint64_t)every + every / 10 + 1);
}

bool feed_plan_lasts(int64_t imported, uint32_t timeout, uint32_t every, int64_t now)
{
	return !timeout || imported + timeout > now + (int64_t)feed_plan_horizon(every);
}
