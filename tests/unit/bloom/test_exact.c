/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact table changed in place, on plain memory: how full it gets, and what it keeps. */
#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/confirm_table.h"

/* The smallest of each kind, and not too small for 700 keys. */
static const struct xb_buckets geometries[] = {{1, 100, 32, 0},	   {1, 4097, 21, 0},
					       {1, 131077, 16, 0}, {1, 131077, 16, 1},
					       {1, 100, 42, 0},	   {1, 100, 64, 0}};
#define GEOMETRIES   (sizeof(geometries) / sizeof(geometries[0]))
#define OF_ADDRESSES 4

TEST(duplicates_are_counted)
{
	for (size_t kind = 0; kind < GEOMETRIES; kind++) {
		struct xb_exact table = make(geometries[kind]);

		for (int copies = 1; copies <= 8; copies++) {
			for (int i = 0; i < copies; i++)
				assert_int_equal(add(&table, 4711), 0);
			for (int i = 0; i < copies; i++) {
				assert_true(has(&table, 4711));
				assert_int_equal(del(&table, 4711), 0);
			}
			assert_false(has(&table, 4711));
			assert_int_equal(del(&table, 4711), -EUCLEAN);
		}
		discard(&table);
	}
}

TEST(the_unspecified_address_has_a_slot)
{
	for (size_t i = 0; i < OF_ADDRESSES; i++) {
		struct xb_exact table = make(geometries[i]);

		assert_false(has(&table, 0));
		assert_int_equal(del(&table, 0), -EUCLEAN);
		assert_int_equal(add(&table, 0), 0);
		assert_true(has(&table, 0));
		for (uint32_t key = 1; key < 5000; key++)
			assert_false(has(&table, key));
		assert_int_equal(del(&table, 0), 0);
		assert_false(has(&table, 0));
		discard(&table);
	}
}

/* A hash of 0 would be a free slot: it stands as 1, and is the same as a hash of 1. */
TEST(the_fingerprint_of_nothing_is_one)
{
	struct xb_exact table = make((struct xb_buckets){1, 10, 64, 0});

	assert_false(xb_exact_contains(&table, 0, 0));
	assert_int_equal(xb_exact_delete(&table, 0, 0), -EUCLEAN);
	assert_int_equal(xb_exact_add(&table, 0, 0), 0);
	assert_true(xb_exact_contains(&table, 0, 0));
	assert_true(xb_exact_contains(&table, 1, 0));
	assert_int_equal(xb_exact_delete(&table, 0, 0), 0);
	assert_false(xb_exact_contains(&table, 0, 0));
	discard(&table);
}

/* Two prefixes whose hashes differ in bits that the table does not have. */
static void make_twins(const struct xb_exact *table, uint64_t hash[2])
{
	struct xb_spot spot[2][2];

	do {
		uint64_t word = next_random() & ~(1ULL << 32);

		hash[0] = hash_mixed_to(&table->key, word);
		hash[1] = hash_mixed_to(&table->key, word | 1ULL << 32);
		for (int i = 0; i < 2; i++)
			xb_exact_spots(table, hash[i], 0, spot[i]);
	} while (spot[0][0].bucket != spot[1][0].bucket || spot[0][0].value != spot[1][0].value);
}

/* Neither is lost with the other, whichever goes first, and wherever both stand. */
TEST(prefixes_with_one_quotient_are_two)
{
	for (uint32_t i = 0; i < 2000; i++) {
		/* In the smallest one both buckets fill, and keys move. */
		struct xb_exact table = make((struct xb_buckets){1, i & 1 ? 2 : 100, 42, 0});
		uint64_t hash[2];
		uint32_t others = 0, first = i >> 1 & 1;

		make_twins(&table, hash);
		for (uint32_t key = 0; key < i % 20; key++)
			others += !add(&table, key);
		for (int j = 0; j < 2; j++)
			assert_int_equal(xb_exact_add(&table, hash[j], 0), 0);
		for (uint32_t key = 100; key < 200; key++)
			others += !add(&table, key);
		assert_int_equal(xb_exact_delete(&table, hash[first], 0), 0);
		assert_true(xb_exact_contains(&table, hash[!first], 0));
		assert_int_equal(xb_exact_delete(&table, hash[!first], 0), 0);
		assert_false(xb_exact_contains(&table, hash[0], 0));
		assert_int_equal(xb_exact_delete(&table, hash[0], 0), -EUCLEAN);
		for (uint32_t key = 0; key < 200; key++)
			others -= !del(&table, key);
		assert_int_equal(others, 0);
		discard(&table);
	}
}

TEST(deleting_what_is_absent_changes_nothing)
{
	for (size_t i = 0; i < GEOMETRIES; i++) {
		struct xb_exact table = make(geometries[i]);
		size_t bytes = xb_exact_bytes(&table.geometry);
		uint8_t *before = malloc(bytes);

		for (uint32_t key = 1; key <= 700; key++)
			assert_int_equal(add(&table, key), 0);
		memcpy(before, table.buckets.base, bytes);
		for (uint32_t key = 701; key < 5000; key++)
			assert_int_equal(del(&table, key), -EUCLEAN);
		assert_memory_equal(before, table.buckets.base, bytes);
		free(before);
		discard(&table);
	}
}

/* Adds until no place is found; the keys that found one. */
static uint64_t fill_up(struct xb_exact *table, const uint32_t *keys)
{
	uint64_t count = 0;
	int error;

	while (!(error = add(table, keys[count])))
		count++;
	assert_int_equal(error, -EXFULL);
	return count;
}

/* In place, up to the promised fill, whatever the keys; beyond it, no key that had a place loses
 * it. */
TEST(filling_in_place)
{
	static const struct {
		uint64_t keys;
		enum xb_slots slots;
	} sizes[] = {
		{100, XB_SLOTS_ADDRESS},
		{8192, XB_SLOTS_ADDRESS},
		{60000, XB_SLOTS_ADDRESS},
		{400000, XB_SLOTS_ADDRESS},
		{100, XB_SLOTS_PREFIX},
		{8192, XB_SLOTS_PREFIX},
		{60000, XB_SLOTS_PREFIX},
		{400000, XB_SLOTS_PREFIX},
		{100, XB_SLOTS_HASH},
		{8192, XB_SLOTS_HASH},
		{60000, XB_SLOTS_HASH},
		{400000, XB_SLOTS_HASH},
		{900000, XB_SLOTS_ADDRESS},
		/* The narrowest slots in whole lines: test_exact_build fills a part of such a
		   table. */
		{3400000, XB_SLOTS_ADDRESS},
	};
	const size_t count_of_sizes = sizeof(sizes) / sizeof(sizes[0]) - !amount(0, 1);

	for (uint32_t i = 0; i < amount(1, 8) * count_of_sizes; i++) {
		const uint64_t size = sizes[i % count_of_sizes].keys;
		struct xb_buckets geometry = xb_size_exact(size, sizes[i % count_of_sizes].slots);
		uint64_t slots = xb_exact_slots(&geometry), room = xb_exact_room(&geometry);
		struct xb_exact table = make(geometry);
		uint32_t *keys = make_keys(slots + 1);
		uint64_t count = fill_up(&table, keys);

		printf("%u bits, %lu slots: full at %.2f %%, %lu moves\n", geometry.slot_bits,
		       slots, 100 * (double)count / (double)slots, moves_of(&table));
		assert_true(count >= room && count <= slots);
		for (uint64_t j = 0; j < count; j++)
			assert_true(has(&table, keys[j]));
		assert_false(has(&table, keys[count]));
		for (uint64_t j = 0; j < count; j++)
			assert_int_equal(del(&table, keys[j]), 0);
		free(keys);
		discard(&table);
	}
}

/* Changed over and over at its fullest, against an array that knows what is in it. */
TEST(churn_at_the_fullest)
{
	static const enum xb_slots slots[] = {XB_SLOTS_HASH, XB_SLOTS_ADDRESS, XB_SLOTS_ADDRESS,
					      XB_SLOTS_PREFIX};

	for (int i = 0; i < 4; i++) {
		struct xb_buckets geometry = xb_size_exact(i == 1 ? 100000 : 20000, slots[i]);
		uint64_t room = xb_exact_room(&geometry);
		struct xb_exact table = make(geometry);
		uint32_t *in = make_keys(room), *out = make_keys(room);

		for (uint64_t j = 0; j < room; j++)
			assert_int_equal(add(&table, in[j]), 0);
		for (uint32_t j = 0; j < amount(50000, 300000); j++) {
			/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): room for 20000 */
			uint64_t from = next_random() % room, to = next_random() % room;
			uint32_t gone = in[from];

			if (has(&table, out[to]))
				continue;
			assert_int_equal(del(&table, gone), 0);
			assert_int_equal(add(&table, out[to]), 0);
			in[from] = out[to];
			out[to] = gone;
		}
		for (uint64_t j = 0; j < room; j++) {
			assert_true(has(&table, in[j]));
			assert_int_equal(del(&table, in[j]), 0);
		}
		for (uint64_t j = 0; j < 8 * end_line(&table); j++)
			assert_int_equal(words_of(&table)[j], 0);
		free(in);
		free(out);
		discard(&table);
	}
}

BEFORE_MAIN(prepare)
{
	begin_random();
}
