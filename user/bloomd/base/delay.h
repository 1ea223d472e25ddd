/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long to wait until a server is asked again; in any unit of time. */
#ifndef XB_BLOOMD_DELAY_H
#define XB_BLOOMD_DELAY_H

#include <stdint.h>

static inline uint64_t delay_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t delay_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* After so many failures in a row: the first delay, which doubles with each, up to the limit. */
static inline uint64_t delay_doubled(uint64_t first, uint32_t failures, uint64_t limit)
{
	uint64_t times = failures ? failures - 1 : 0;

	return delay_least(first << delay_least(times, 24), limit);
}

/* With up to 1/share of it more, by any random number, so that not all machines come at once. */
static inline uint64_t delay_spread(uint64_t delay, uint32_t share, uint32_t random)
{
	return delay + random % (delay / share + 1);
}

#endif
