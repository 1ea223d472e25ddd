/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a test repeats what it does: the long run of `scripts/test --all` sets XB_TEST_ALL,
 * what runs twenty times as slow, under valgrind, XB_TEST_TENTH. */
#ifndef XB_TESTS_AMOUNT_H
#define XB_TESTS_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* What such a tool looks for comes with the first of many rounds: statistics and races are left
 * out. */
static inline bool is_slowed(void)
{
	return getenv("XB_TEST_TENTH");
}

static inline uint32_t amount(uint32_t share, uint32_t all)
{
	if (getenv("XB_TEST_ALL"))
		return all;
	return is_slowed() ? (share + 9) / 10 : share;
}

#endif
