/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers by chance, the same again with XB_SEED. */
#ifndef XB_TEST_RANDOM_H
#define XB_TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t random_state;

/* Prints the seed. */
static inline void random_begin(void)
{
	const char *text = getenv("XB_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	printf("XB_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

/* xorshift64* (Vigna, ACM Transactions on Mathematical Software 42, 2016) */
static inline uint32_t random_word(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)(random_state * 0x2545f4914f6cdd1dULL >> 32);
}

#endif
