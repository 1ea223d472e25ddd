/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csplan.h"

#include "bloomd/base/delay.h"

#define SECOND 1000ULL /* ms */

uint64_t csplan_delay(const struct csplan *plan, uint32_t random)
{
	uint64_t every = plan->every * SECOND, limit, delay;

	if (!plan->failures)
		return delay_spread(every, 10, random);
	limit = (plan->refused ? CROWDSEC_REFUSED_MAX : CROWDSEC_RETRY_MAX) * SECOND;
	delay = delay_doubled(every, plan->failures, delay_most(every, limit));
	delay = delay_most(delay, delay_least(plan->retry_after, CROWDSEC_WAIT_MAX) * SECOND);
	return delay_spread(delay, 4, random);
}

uint64_t csplan_resync(uint32_t period, uint32_t random)
{
	return delay_spread(period * SECOND, 10, random);
}
