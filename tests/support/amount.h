/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a test repeats what it does: the long run of `scripts/test --all` sets XB_TEST_ALL. */
#ifndef XB_TESTS_AMOUNT_H
#define XB_TESTS_AMOUNT_H

#include <stdint.h>
#include <stdlib.h>

static inline uint32_t amount(uint32_t share, uint32_t all)
{
	return getenv("XB_TEST_ALL") ? all : share;
}

#endif
