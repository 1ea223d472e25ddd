/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long something takes. */
#ifndef XB_TEST_SECONDS_H
#define XB_TEST_SECONDS_H

#include <time.h>

/* Since some moment in the past; nobody sets this clock. */
static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
