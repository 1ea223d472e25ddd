/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cell of the table of lengths an entry marks, which bit, and how many probes a source costs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/lengthmap.h"
#include "support/cmocka.h"

static const struct xb_key key = {0x0123456789abcdef, 0xfedcba9876543210};

static struct xb_entry prefix(uint64_t hi, uint8_t length)
{
	const struct xb_entry whole = {.kind = XB_NET6, .hi = hi, .lo = ~0ULL, .length = 128};

	return xb_entry_covering(&whole, length);
}

static uint32_t cell_of(uint64_t hi, uint8_t length, uint32_t cells)
{
	struct xb_entry entry = prefix(hi, length);

	return xb_lengthmap_cell(&key, cells, &entry);
}

static uint32_t mark(struct xb_lengths *table, uint32_t cell, uint8_t length)
{
	struct xb_entry entry = prefix(0x20010db800000000, length);

	return xb_lengthmap_mark(table, cell, &entry);
}

TEST(short_ones_have_the_first_cell)
{
	for (uint8_t length = 0; length <= 128; length++) {
		uint32_t cell = cell_of(0x20010db8deadbeef, length, 64);

		if (length < 32)
			assert_int_equal(cell, 0);
		else
			assert_in_range(cell, 1, 64);
	}
	assert_int_equal(cell_of(~0ULL, 32, 1), 1);
	assert_int_equal(cell_of(0, 128, 1), 1);
}

/* A packet knows the address alone, not the length that will match. */
TEST(long_ones_have_one_by_their_head)
{
	uint32_t cell = cell_of(0x20010db800000000, 32, 1U << 16), others = 0;

	for (uint8_t length = 33; length <= 128; length++)
		assert_int_equal(cell_of(0x20010db8ffffffff, length, 1U << 16), cell);
	for (uint64_t i = 1; i <= 100; i++)
		others += cell_of((0x20010db8 + i) << 32, 48, 1U << 16) != cell;
	assert_in_range(others, 95, 100);
}

TEST(heads_are_spread_over_all_cells)
{
	uint32_t found[17] = {0};

	for (uint64_t i = 0; i < 1600; i++)
		found[cell_of(i << 32, 64, 16)]++;
	assert_int_equal(found[0], 0);
	for (uint32_t cell = 1; cell <= 16; cell++)
		assert_in_range(found[cell], 40, 200);
}

TEST(a_bit_for_each_length)
{
	for (uint8_t length = 0; length <= 128; length++) {
		struct xb_lengths table[3] = {0}, expected[3] = {0};
		uint32_t cell = length < 32 ? 0 : 2, bit = length < 32 ? length : length - 32U;

		expected[cell].bits[bit / 64] = 1ULL << bit % 64;
		mark(table, cell, length);
		assert_memory_equal(table, expected, sizeof(table));
	}
}

TEST(probes_are_those_of_both_cells)
{
	struct xb_lengths table[3] = {0};

	assert_int_equal(xb_lengthmap_most(table, 2), 0);
	assert_int_equal(mark(table, 1, 32), 1);
	assert_int_equal(mark(table, 1, 32), 1);
	assert_int_equal(mark(table, 1, 95), 2);
	assert_int_equal(mark(table, 1, 96), 3);
	assert_int_equal(mark(table, 2, 128), 1);
	assert_int_equal(xb_lengthmap_most(table, 2), 3);
	assert_int_equal(xb_lengthmap_most(table, 1), 3);
	/* 0: which source costs most now, this cell does not know */
	assert_int_equal(mark(table, 0, 0), 0);
	assert_int_equal(mark(table, 0, 31), 0);
	assert_int_equal(xb_lengthmap_most(table, 2), 5);
	assert_int_equal(mark(table, 2, 64), 4);
	assert_int_equal(xb_lengthmap_most(table, 0), 2);
}

TEST(no_source_costs_more_than_all_lengths)
{
	struct xb_lengths table[2] = {0};

	for (uint8_t length = 0; length < 32; length++)
		mark(table, 0, length);
	for (uint8_t length = 32; length < 128; length++)
		mark(table, 1, length);
	assert_int_equal(mark(table, 1, 128), 129);
	assert_int_equal(xb_lengthmap_most(table, 1), 129);
}
