/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lengths get slots, which cells an entry marks, and how many probes a source costs; below it
 * the table of lengths, for those that have no slot. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "filter/lengthmap.h"
#include "filter/slotmap.h"
#include "support/cmocka.h"

#define WORDS  1024
#define OTHERS 1024
#define NET    0x20010db800000000ULL
#define FIRST  33U /* of the lengths */

static struct xb_params params;
static struct xb_slots6 slots;
static uint64_t cells[WORDS];
static struct xb_lengths others[OTHERS + 1];
static const struct xb_slotmap map = {
	.slots = &slots, .cells = cells, .others = others, .params = &params};

static int begin(void **state)
{
	memset(&slots, 0, sizeof(slots));
	memset(cells, 0, sizeof(cells));
	memset(others, 0, sizeof(others));
	params = (struct xb_params){.cell_words = WORDS, .length_cells = OTHERS};
	return getrandom(&params.key, sizeof(params.key), 0) != sizeof(params.key) ||
	       getrandom(&params.key6, sizeof(params.key6), 0) != sizeof(params.key6);
}

static struct xb_entry prefix(uint64_t hi, uint8_t length)
{
	const struct xb_entry whole = {.kind = XB_NET6, .hi = hi, .lo = ~0ULL, .length = 128};

	return xb_entry_covering(&whole, length);
}

static uint32_t mark(uint64_t hi, uint8_t length)
{
	struct xb_entry entry = prefix(hi, length);
	uint32_t probes = xb_slotmap_mark(&map, &entry);

	assert_true(xb_slotmap_has(&map, &entry));
	return probes;
}

/* What the filter looks up for a source: the lengths of bpf/net6.h, in the order of slots. */
static uint32_t looked_up(uint64_t hi, bool lengths[129])
{
	uint64_t hash = xb_hash_head6(params.key6.head, (uint32_t)(hi >> 32));
	uint32_t left = slots.always, count = 0;
	struct xb_entry host = prefix(hi, 128);
	uint32_t cell = xb_lengthmap_cell(&params.key, OTHERS, &host);

	memset(lengths, 0, 129 * sizeof(*lengths));
	if (slots.celled)
		left |= (uint32_t)(cells[xb_cell6_word(hash, WORDS)] >> xb_cell6_shift(hash) &
				   0xff);
	for (uint32_t i = 0; i < XB_SLOTS6; i++)
		if (left >> i & 1)
			lengths[slots.length[i]] = true;
	for (uint32_t length = FIRST; length <= 128; length++) {
		uint32_t bit = length - XB_LENGTH_SPLIT;

		if (left & XB_OTHERS6 && others[cell].bits[bit / 64] >> bit % 64 & 1)
			lengths[length] = true;
		count += lengths[length];
	}
	return count;
}

static struct xb_slotmap_plan plan_of(const uint8_t *lengths, size_t count)
{
	struct xb_entry entries[512];

	assert_in_range(count, 1, 512);
	for (size_t i = 0; i < count; i++)
		entries[i] = prefix(NET + ((uint64_t)i << 32), lengths[i]);
	return xb_slotmap_plan(entries, count);
}

TEST_WITH(hosts_alone_are_direct, begin, NULL)
{
	static const uint8_t hosts[] = {128, 128, 128};
	struct xb_slotmap_plan plan = plan_of(hosts, 3);
	bool lengths[129];

	assert_true(plan.direct);
	assert_int_equal(plan.count, 1);
	assert_int_equal(plan.length[0], 128);
	xb_slotmap_begin(&map, &plan);
	assert_int_equal(slots.always, 1);
	assert_int_equal(mark(NET, 128), 1);
	assert_false(slots.celled);
	/* Another length that comes afterwards is looked for below its /32 alone. */
	assert_int_equal(mark(NET, 64), 2);
	assert_true(slots.celled);
	assert_int_equal(looked_up(NET, lengths), 2);
	assert_true(lengths[64] && lengths[128]);
	assert_int_equal(xb_slotmap_most(&map), 2);
}

TEST_WITH(the_most_frequent_have_slots, begin, NULL)
{
	uint8_t some[512];
	size_t count = 0;
	struct xb_slotmap_plan plan;

	for (uint8_t length = 40; length < 50; length++)
		for (uint8_t i = 0; i < length; i++)
			some[count++] = length;
	plan = plan_of(some, count);
	assert_int_equal(plan.count, XB_SLOTS6);
	for (uint32_t i = 0; i < XB_SLOTS6; i++)
		assert_int_equal(plan.length[i], 49 - i);
	/* 40, 41 and 42 have none; each stands in a /32 of its own. */
	assert_int_equal(plan.length_cells, 1024 + 4 * (40 + 41 + 42));
	assert_int_equal(plan.cell_words, (8192 + 4 * count) / 8);
}

/* Every length, first in order and then by chance: what is marked is looked for, at the cost that
 * is told. */
TEST_WITH(everything_marked_is_looked_for, begin, NULL)
{
	bool lengths[129];

	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t hi = NET + ((uint64_t)(i % 50) << 32);
		uint8_t length = (uint8_t)(FIRST + (i < 96 ? i : xb_mix64(i) % 96));
		uint32_t told = mark(hi, length);

		uint32_t found = looked_up(hi, lengths);

		assert_true(lengths[length]);
		assert_int_equal(told, found);
		assert_true(xb_slotmap_most(&map) >= found);
	}
	assert_int_equal(slots.count, XB_SLOTS6);
}

TEST_WITH(what_is_not_marked_is_not_there, begin, NULL)
{
	struct xb_entry net = prefix(NET, 64), other = prefix(~NET, 64), shorter = prefix(NET, 33);

	assert_false(xb_slotmap_has(&map, &net));
	mark(NET, 64);
	assert_false(xb_slotmap_has(&map, &other));
	assert_false(xb_slotmap_has(&map, &shorter));
	for (uint8_t length = 34; length <= 41; length++)
		mark(NET, length);
	net = prefix(NET, 40);
	other = prefix(~NET, 40);
	assert_true(xb_slotmap_has(&map, &net));
	assert_false(xb_slotmap_has(&map, &other));
}

static uint32_t cell_of(uint64_t hi, uint8_t length, uint32_t count)
{
	struct xb_entry entry = prefix(hi, length);

	return xb_lengthmap_cell(&params.key, count, &entry);
}

/* Short ones have the first cell, the others one by their head: a packet knows the address alone,
 * not the length that will match. */
TEST_WITH(cells_of_other_lengths, begin, NULL)
{
	uint32_t found[17] = {0}, apart = 0;

	for (uint8_t length = 0; length < 32; length++)
		assert_int_equal(cell_of(NET, length, 64), 0);
	for (uint8_t length = 32; length <= 128; length++)
		assert_int_equal(cell_of(NET | 0xffffffff, length, 1U << 16),
				 cell_of(NET, 32, 1U << 16));
	for (uint64_t i = 1; i <= 100; i++)
		apart += cell_of(NET + (i << 32), 48, 1U << 16) != cell_of(NET, 48, 1U << 16);
	assert_in_range(apart, 95, 100);
	assert_int_equal(cell_of(~0ULL, 32, 1), 1);
	assert_int_equal(cell_of(0, 128, 1), 1);
	for (uint64_t i = 0; i < 1600; i++)
		found[cell_of(i << 32, 64, 16)]++;
	assert_int_equal(found[0], 0);
	for (uint32_t cell = 1; cell <= 16; cell++)
		assert_in_range(found[cell], 40, 200);
}

static uint32_t mark_length(struct xb_lengths *table, uint32_t cell, uint8_t length)
{
	struct xb_entry entry = prefix(NET, length);

	return xb_lengthmap_mark(table, cell, &entry);
}

TEST(probes_are_those_of_both_cells)
{
	struct xb_lengths table[3] = {0};

	assert_int_equal(xb_lengthmap_most(table, 2), 0);
	assert_int_equal(mark_length(table, 1, 32), 1);
	assert_int_equal(mark_length(table, 1, 32), 1);
	assert_int_equal(mark_length(table, 1, 95), 2);
	assert_int_equal(mark_length(table, 1, 96), 3);
	assert_int_equal(mark_length(table, 2, 128), 1);
	assert_int_equal(xb_lengthmap_most(table, 2), 3);
	assert_int_equal(xb_lengthmap_most(table, 1), 3);
	/* 0: which source costs most now, this cell does not know */
	assert_int_equal(mark_length(table, 0, 0), 0);
	assert_int_equal(mark_length(table, 0, 31), 0);
	assert_int_equal(xb_lengthmap_most(table, 2), 5);
	assert_int_equal(mark_length(table, 2, 64), 4);
	assert_int_equal(xb_lengthmap_most(table, 0), 2);
}

/* Of all lengths a source can have, none costs more than 96 probes. */
TEST_WITH(no_source_costs_more_than_all_lengths, begin, NULL)
{
	bool lengths[129];

	for (uint32_t length = 128; length >= FIRST; length--)
		mark(NET, (uint8_t)length);
	assert_int_equal(xb_slotmap_most(&map), 96);
	assert_int_equal(looked_up(NET, lengths), 96);
}

/* How many cells as many /32s at this distance mark as are a quarter of the cells: a fifth and
 * some, since some share one. */
static uint32_t cells_marked(uint32_t distance)
{
	uint32_t marked = 0;

	begin(NULL);
	for (uint32_t i = 0; i < WORDS * 8 / 4; i++)
		mark((uint64_t)(0x20010db8 + i * distance) << 32, 64);
	for (uint32_t i = 0; i < WORDS; i++)
		marked += (uint32_t)__builtin_popcountll(cells[i]);
	return marked;
}

/* With a product alone one key in a hundred put those in a row on a third of that. */
TEST(heads_in_a_row_are_spread_over_all_cells)
{
	static const uint32_t distances[] = {1, 8, 256, 65536, 0x9e3779b9};
	uint32_t least = WORDS * 8, sum = 0;

	for (uint32_t i = 0; i < 5 * 200; i++) {
		uint32_t marked = cells_marked(distances[i % 5]);

		least = marked < least ? marked : least;
		sum += marked;
	}
	printf("%u of %d cells on average, %u at least\n", sum / 1000, WORDS * 8, least);
	assert_true(least > WORDS * 8 / 10);
	assert_in_range(sum / 1000, WORDS * 8 * 21 / 100, WORDS * 8 / 4);
}
