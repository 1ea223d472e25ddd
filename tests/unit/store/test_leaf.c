/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A leaf by itself: the order of keys, sizes of keys and values, changes at any place. */
#include <stdlib.h>
#include <string.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/leaftext.h"
#include "support/random.h"

TEST(keys_are_in_order)
{
	struct xb_leaf leaf = {0};

	assert_holds(&leaf, "");
	put(&leaf, "b", "1");
	put(&leaf, "abc", "2");
	put(&leaf, "a", "1");
	put(&leaf, "\xff", "3");
	put(&leaf, "ab", "2");
	assert_holds(&leaf, "a=1 ab=2 abc=2 b=1 \xff=3");
	put(&leaf, "ab", "4");
	put(&leaf, "ab", "5");
	assert_holds(&leaf, "a=1 ab=5 abc=2 b=1 \xff=3");
	drop(&leaf, "a");
	drop(&leaf, "\xff");
	drop(&leaf, "abc");
	assert_holds(&leaf, "ab=5 b=1");
	drop(&leaf, "ab");
	drop(&leaf, "b");
	assert_holds(&leaf, "");
	put(&leaf, "c", "1");
	assert_holds(&leaf, "c=1");
	xb_leaf_free(&leaf);
}

TEST(an_empty_key_comes_first)
{
	struct xb_leaf leaf = {0};

	assert_int_equal(find(&leaf, ""), 0);
	put(&leaf, "a", "1");
	put(&leaf, "", "2");
	put(&leaf, "", "3");
	assert_holds(&leaf, "=3 a=1");
	assert_int_equal(find(&leaf, ""), 1);
	drop(&leaf, "");
	assert_int_equal(find(&leaf, ""), 0);
	assert_holds(&leaf, "a=1");
	xb_leaf_free(&leaf);
}

TEST(compare_is_by_byte)
{
	static const struct {
		const char *a, *b;
		int order;
	} cases[] = {{"", "", 0},    {"", "a", -1},	   {"a", "a", 0},	    {"a", "ab", -1},
		     {"b", "ab", 1}, {"\x7f", "\x80", -1}, {"\xff", "\xff\x01", -1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *a = (const uint8_t *)cases[i].a, *b = (const uint8_t *)cases[i].b;
		size_t a_size = strlen(cases[i].a), b_size = strlen(cases[i].b);

		assert_int_equal(xb_leaf_compare(a, a_size, b, b_size), cases[i].order);
		assert_int_equal(xb_leaf_compare(b, b_size, a, a_size), -cases[i].order);
	}
}

TEST(around_has_entries_on_both_sides)
{
	static const struct {
		const char *key;
		bool around;
	} cases[] = {{"a", false}, {"b", false}, {"c", true},
		     {"d", true},  {"e", false}, {"f", false}};
	struct xb_leaf leaf = {0};

	assert_false(xb_leaf_is_around(&leaf, (const uint8_t *)"a", 1));
	put(&leaf, "b", "1");
	put(&leaf, "d", "1");
	put(&leaf, "e", "1");
	assert_int_equal(find(&leaf, "d"), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(xb_leaf_is_around(&leaf, (const uint8_t *)cases[i].key, 1),
				 cases[i].around);
	assert_int_equal(find(&leaf, "b"), 1); /* nothing is before it */
	assert_false(xb_leaf_is_around(&leaf, (const uint8_t *)"b", 1));
	assert_int_equal(find(&leaf, "f"), 0); /* nothing is behind it */
	assert_false(xb_leaf_is_around(&leaf, (const uint8_t *)"f", 1));
	xb_leaf_free(&leaf);
}

TEST(reach_goes_forward_only)
{
	struct xb_leaf_reader reader;
	struct xb_leaf leaf = {0};

	put(&leaf, "b", "1");
	put(&leaf, "d", "2");
	put(&leaf, "f", "3");
	assert_int_equal(xb_leaf_begin(&leaf, &reader), 1);
	assert_int_equal(xb_leaf_reach(&reader, (const uint8_t *)"c", 1), 1);
	assert_memory_equal(xb_leaf_key(&reader), "d", 1);
	assert_int_equal(xb_leaf_reach(&reader, (const uint8_t *)"a", 1), 1);
	assert_memory_equal(xb_leaf_key(&reader), "d", 1);
	assert_int_equal(xb_leaf_reach(&reader, (const uint8_t *)"g", 1), 0);
	assert_int_equal(xb_leaf_reach(&reader, (const uint8_t *)"a", 1), 0);
	assert_int_equal(xb_leaf_next(&reader), 0);
	xb_leaf_free(&leaf);
}

/* Sizes on both sides of what one byte, and two bytes, of a number can say. */
TEST(sizes_of_keys_and_values)
{
	static const size_t keys[] = {127, 128, 255, XB_LEAF_KEY_MAX};
	static const size_t values[] = {0, 1, 127, 128, 16383, 16384, 70000};
	static uint8_t key[XB_LEAF_KEY_MAX], value[70000];
	struct xb_leaf_reader reader;
	struct xb_leaf leaf = {0};
	size_t size, count = 0;
	uint8_t *record;
	int more;

	memset(key, 'k', sizeof(key));
	memset(value, 'v', sizeof(value));
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 7; j++) {
			key[0] = (uint8_t)('0' + j);
			assert_int_equal(xb_leaf_find(&leaf, key, keys[i]), 0);
			assert_int_equal(xb_leaf_put(&leaf, key, keys[i], value, values[j]), 0);
			assert_int_equal(xb_leaf_find(&leaf, key, keys[i]), 1);
		}
	record = write_all(&leaf, &size);
	xb_leaf_free(&leaf);
	more = xb_leaf_first(&reader, record, size);
	for (; more > 0; more = xb_leaf_next(&reader), count++) {
		assert_int_equal(xb_leaf_key_size(&reader), keys[count % 4]);
		assert_int_equal(xb_leaf_key(&reader)[0], '0' + count / 4);
		assert_int_equal(xb_leaf_key(&reader)[keys[count % 4] - 1], 'k');
		assert_int_equal(reader.value_size, values[count / 4]);
		assert_memory_equal(reader.value, value, reader.value_size);
	}
	assert_int_equal(more, 0);
	assert_int_equal(count, 28);
	free(record);
}

TEST(values_are_kept_once)
{
	char value[200], key[8];
	struct xb_leaf leaf = {0};

	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "%03d", i);
		put(&leaf, key, value);
	}
	assert_in_range(xb_leaf_bytes(&leaf), 300, 1000);
	xb_leaf_free(&leaf);
}

#define KEYS 120 /* of up to four of the letters below */

static size_t key_of(unsigned int i, uint8_t key[4])
{
	static const uint8_t letters[] = {0, 1, 255};
	size_t size = 0;

	for (; i; i = (i - 1) / 3)
		key[size++] = letters[(i - 1) % 3];
	return size;
}

static void assert_model(struct xb_leaf *leaf, const uint8_t *model, bool wild)
{
	for (unsigned int i = 0; i < KEYS; i++) {
		unsigned int one = wild ? random_word() % KEYS : i;
		uint8_t key[4];
		size_t size = key_of(one, key);

		assert_int_equal(xb_leaf_find(leaf, key, size), model[one] != 0);
		if (model[one])
			assert_memory_equal(leaf->place.value, &model[one], 1);
	}
}

/* Changes at random places, against an array; then as a record, and back. */
TEST(against_an_array)
{
	random_begin();
	for (uint32_t round = 0; round < amount(100, 2000); round++) {
		uint8_t model[KEYS] = {0}, key[4], *record;
		struct xb_leaf leaf = {0}, back = {0};
		size_t size;

		for (uint32_t step = random_word() % 400; step; step--) {
			unsigned int one = random_word() % KEYS;
			uint8_t value = (uint8_t)(1 + random_word() % 3);
			size_t bytes = key_of(one, key);

			assert_int_equal(xb_leaf_find(&leaf, key, bytes), model[one] != 0);
			if (random_word() % 3)
				assert_int_equal(xb_leaf_put(&leaf, key, bytes, &value, 1), 0);
			else if (model[one])
				assert_int_equal(xb_leaf_remove(&leaf), value = 0);
			else
				continue;
			model[one] = value;
		}
		assert_model(&leaf, model, true);
		record = write_all(&leaf, &size);
		assert_int_equal(xb_leaf_load(&back, record, size), 0);
		free(record);
		assert_model(&back, model, false);
		xb_leaf_free(&leaf);
		xb_leaf_free(&back);
	}
}
