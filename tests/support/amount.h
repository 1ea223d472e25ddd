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

/* Where each byte of something is changed: how far apart those of its 255 changes are that are
 * tried. None of these has a part in common with 255. */
static inline size_t change_step(void)
{
	return getenv("XB_TEST_ALL") ? 1 : is_slowed() ? 31 : 7;
}

static inline uint32_t amount(uint32_t share, uint32_t all)
{
	if (getenv("XB_TEST_ALL"))
		return all;
	return is_slowed() ? (share + 9) / 10 : share;
}

#endif
