/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csplan.h"

#define SECOND 1000ULL /* ms */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t csplan_delay(const struct csplan *plan, uint32_t random)
{
	uint64_t every = plan->every * SECOND, delay = every, share = 10;

	if (plan->failures) {
		uint64_t limit = plan->refused ? CROWDSEC_REFUSED_MAX : CROWDSEC_RETRY_MAX;

		delay = least(every << least(plan->failures - 1, 16), most(every, limit * SECOND));
		delay = most(delay, least(plan->retry_after, CROWDSEC_WAIT_MAX) * SECOND);
		share = 4;
	}
	return delay + random % (delay / share + 1);
}

uint64_t csplan_resync(uint32_t period, uint32_t random)
{
	uint64_t delay = period * SECOND;

	return delay + random % (delay / 10 + 1);
}
