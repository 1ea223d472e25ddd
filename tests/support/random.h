/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers by chance, the same again with XB_SEED. */
#ifndef XB_TEST_RANDOM_H
#define XB_TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/rig.h"

static uint64_t random_state;

/* Prints the seed. */
static inline void random_begin(void)
{
	const char *text = getenv("XB_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	printf("XB_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	random_state = seed;
}

static inline uint64_t random_wide(void)
{
	return rig_random(&random_state);
}

static inline uint32_t random_word(void)
{
	return (uint32_t)(random_wide() >> 32);
}

#endif
