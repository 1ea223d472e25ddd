/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lengths get a common level, at what price, and that the keys of an entry cover what it
 * covers. */
#include <stdlib.h>
#include <string.h>

#include "filter/levels6.h"
#include "support/cmocka.h"
#include "support/oracle.h"
#include "support/random.h"

#define ROOM 400000

static struct xb_entry entries[ROOM];
static size_t count;

static int begin(void **state)
{
	count = 0;
	random_begin();
	return 0;
}

/* So many entries of a length. */
static void list(uint8_t length, size_t many)
{
	for (size_t i = 0; i < many; i++)
		entries[count++] = oracle_random(&random_state, false, length);
}

static uint8_t level_of(uint8_t length)
{
	struct xb_entry entry = {.kind = XB_NET6, .length = length};
	struct xb_levels6 levels;

	xb_levels6_choose(entries, count, &levels);
	return xb_levels6_of(&levels, &entry);
}

static uint64_t count_keys(void)
{
	struct xb_levels6 levels;
	uint64_t keys = 0;

	xb_levels6_choose(entries, count, &levels);
	for (size_t i = 0; i < count; i++)
		keys += xb_levels6_keys(&levels, &entries[i]);
	return keys;
}

TEST_WITH(what_nobody_lists_stays_as_it_is, begin, NULL)
{
	for (uint8_t length = XB_LEVELS6_FIRST; length <= 128 && length; length++)
		assert_int_equal(level_of(length), length);
	list(48, 10);
	list(128, 10);
	for (uint8_t length = XB_LEVELS6_FIRST; length <= 128 && length; length++)
		assert_int_equal(level_of(length), length);
}

TEST_WITH(close_lengths_have_one_level, begin, NULL)
{
	list(45, 10);
	list(47, 10);
	list(48, 10);
	assert_int_equal(level_of(44), 44);
	assert_int_equal(level_of(45), 48);
	assert_int_equal(level_of(46), 48);
	assert_int_equal(level_of(47), 48);
	assert_int_equal(level_of(49), 49);
	assert_int_equal(count_keys(), 10 * 8 + 10 * 2 + 10);
}

TEST_WITH(none_becomes_longer_by_more_than_four, begin, NULL)
{
	for (uint8_t length = XB_LEVELS6_FIRST; length <= 128; length++)
		list(length, 1);
	for (uint8_t length = XB_LEVELS6_FIRST; length <= 128; length++)
		assert_in_range(level_of(length), length, length + XB_LEVELS6_BITS);
	count = 0;
	list(44, 1);
	list(48, 1);
	assert_int_equal(level_of(44), 48);
	count = 0;
	list(43, 1);
	list(48, 1);
	assert_int_equal(level_of(43), 43);
}

/* The cheap ones first, and no more keys than a quarter of the entries and 4,096. */
TEST_WITH(the_price_is_bounded, begin, NULL)
{
	list(47, 100000);
	list(48, 100000);
	list(63, 1000);
	list(64, 1000);
	assert_int_equal(level_of(47), 47);
	assert_int_equal(level_of(63), 64);
	assert_int_equal(count_keys(), count + 1000);
	count = 0;
	for (int i = 0; i < 200; i++)
		list((uint8_t)(XB_LEVELS6_FIRST + random_word() % 96), random_word() % 1000);
	assert_in_range(count_keys(), count, count + count / 4 + 4096);
}

/* Of entries around each level, over the middle of the address as well. */
TEST_WITH(keys_are_all_of_the_entry, begin, NULL)
{
	for (uint8_t level = XB_LEVELS6_FIRST + XB_LEVELS6_BITS; level && level <= 128; level++)
		for (uint32_t bits = 0; bits <= XB_LEVELS6_BITS; bits++) {
			uint8_t length = (uint8_t)(level - bits);
			struct xb_entry entry = oracle_random(&random_state, false, length), last;
			struct xb_levels6 levels;

			memset(&levels, level, sizeof(levels));
			assert_int_equal(xb_levels6_keys(&levels, &entry), 1U << bits);
			for (uint32_t i = 0; i < 1U << bits; i++) {
				struct xb_entry key = xb_levels6_key(&levels, &entry, i),
						masked = xb_entry_covering(&key, level);

				assert_int_equal(key.length, level);
				assert_int_equal(xb_entry_compare(&key, &masked), 0);
				assert_true(xb_entry_inside(&entry, &key));
				assert_true(!i || xb_entry_compare(&last, &key) < 0);
				last = key;
			}
		}
}

TEST_WITH(a_list_becomes_its_keys, begin, NULL)
{
	struct xb_entry *keys;
	struct xb_levels6 levels;
	size_t made;

	list(64, 100);
	xb_levels6_choose(entries, count, &levels);
	assert_int_equal(xb_levels6_expand(&levels, entries, count, &keys, &made), 0);
	assert_null(keys);
	assert_int_equal(made, 100);
	list(62, 100);
	xb_levels6_choose(entries, count, &levels);
	assert_int_equal(xb_levels6_expand(&levels, entries, count, &keys, &made), 0);
	assert_int_equal(made, 500);
	for (size_t i = 0; i < made; i++) {
		size_t of = i < 100 ? i : 100 + (i - 100) / 4;

		assert_int_equal(keys[i].length, 64);
		assert_true(xb_entry_inside(&entries[of], &keys[i]) ||
			    !xb_entry_compare(&entries[of], &keys[i]));
	}
	free(keys);
}

ALL_TESTS(NULL, NULL);
