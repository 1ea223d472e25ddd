/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that programs in the kernel read, too. */
#ifndef XB_CORE_CLOCK_H
#define XB_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define XB_SECOND 1000000000ULL /* ns */

/* CLOCK_MONOTONIC, ns. */
static inline uint64_t xb_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * XB_SECOND + (uint64_t)now.tv_nsec;
}

#endif
