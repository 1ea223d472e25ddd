/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A leaf: the order of keys, sizes of keys and values, changes at any place; leaves as records: how
 * many entries go into one, what is read back, damage. Keys and values are text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/leaf.h"
#include "support/cmocka.h"

static int find(struct xb_leaf *leaf, const char *key)
{
	return xb_leaf_find(leaf, (const uint8_t *)key, strlen(key));
}

static void put(struct xb_leaf *leaf, const char *key, const char *value)
{
	assert_in_range(find(leaf, key), 0, 1);
	assert_int_equal(xb_leaf_put(leaf, (const uint8_t *)key, strlen(key), value, strlen(value)),
			 0);
	assert_int_equal(leaf->place.value_size, strlen(value));
	assert_memory_equal(leaf->place.value, value, strlen(value));
}

static void drop(struct xb_leaf *leaf, const char *key)
{
	assert_int_equal(find(leaf, key), 1);
	assert_int_equal(xb_leaf_remove(leaf), 0);
}

/* The reader and all behind it as "KEY=VALUE KEY=VALUE". */
static void assert_reads(struct xb_leaf_reader *reader, int more, const char *expected)
{
	char text[256] = "";
	size_t used = 0;

	for (; more > 0; more = xb_leaf_next(reader))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s=%.*s",
					 used ? " " : "", (int)xb_leaf_key_size(reader),
					 (const char *)xb_leaf_key(reader), (int)reader->value_size,
					 (const char *)reader->value);
	assert_int_equal(more, 0);
	assert_string_equal(text, expected);
	assert_int_equal(xb_leaf_next(reader), 0);
}

static void assert_holds(const struct xb_leaf *leaf, const char *expected)
{
	struct xb_leaf_reader reader;

	assert_reads(&reader, xb_leaf_begin(leaf, &reader), expected);
}

/* As one record, whose bytes have none to spare, for the sanitizer. */
static uint8_t *write_all(const struct xb_leaf *leaf, size_t *size)
{
	struct xb_leaf_reader reader;
	uint8_t *record, *exact;

	assert_in_range(xb_leaf_begin(leaf, &reader), 0, 1);
	assert_int_equal(xb_leaf_write(&reader, SIZE_MAX, &record, size), 0);
	assert_int_equal(reader.at, reader.entries_size);
	exact = malloc(*size);
	assert_non_null(exact);
	memcpy(exact, record, *size);
	free(record);
	return exact;
}

TEST(keys_are_in_order)
{
	struct xb_leaf leaf = {0};

	assert_holds(&leaf, "");
	put(&leaf, "b", "1");
	put(&leaf, "abc", "2");
	put(&leaf, "a", "1");
	put(&leaf, "", "1");
	put(&leaf, "\xff", "3");
	put(&leaf, "ab", "2");
	assert_holds(&leaf, "=1 a=1 ab=2 abc=2 b=1 \xff=3");
	drop(&leaf, "");
	assert_int_equal(find(&leaf, ""), 0);
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
	/* A key that begins as the one behind which it would have come. */
	put(&leaf, "d1", "1");
	drop(&leaf, "d1");
	put(&leaf, "d2", "1");
	assert_holds(&leaf, "c=1 d2=1");
	xb_leaf_free(&leaf);
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

/* --- records --- */

static void fill(struct xb_leaf *leaf)
{
	char key[8], value[8];

	for (int i = 0; i < 40; i++) {
		snprintf(key, sizeof(key), "%c%02d", 'a' + i / 10, i);
		snprintf(value, sizeof(value), "%d", i * 7 % 11);
		put(leaf, key, value);
	}
}

/* Reads the record as the next ones of the leaf; how many they are. */
static size_t same_entries(const uint8_t *record, size_t size, struct xb_leaf_reader *leaf)
{
	struct xb_leaf_reader reader;
	int more = xb_leaf_first(&reader, record, size);
	size_t count = 0;

	for (; more > 0; more = xb_leaf_next(&reader), count++) {
		assert_int_equal(xb_leaf_compare(xb_leaf_key(&reader), xb_leaf_key_size(&reader),
						 xb_leaf_key(leaf), xb_leaf_key_size(leaf)),
				 0);
		assert_int_equal(reader.value_size, leaf->value_size);
		assert_memory_equal(reader.value, leaf->value, reader.value_size);
		assert_in_range(xb_leaf_next(leaf), 0, 1);
	}
	assert_int_equal(more, 0);
	return count;
}

/* How many records the leaf takes: one entry even if none fits; else none is larger than the limit.
 */
static size_t count_records(const struct xb_leaf *leaf, size_t limit)
{
	struct xb_leaf_reader all, reader;
	size_t total = 0, records = 0;

	assert_int_equal(xb_leaf_begin(leaf, &reader), 1);
	assert_int_equal(xb_leaf_begin(leaf, &all), 1);
	for (; reader.at < reader.entries_size; records++) {
		uint8_t *record;
		size_t size, count;

		assert_int_equal(xb_leaf_write(&reader, limit, &record, &size), 0);
		count = same_entries(record, size, &all);
		assert_int_not_equal(count, 0);
		if (count > 1)
			assert_in_range(size, 1, limit);
		total += count;
		free(record);
	}
	assert_int_equal(total, 40);
	return records;
}

/* The limit counts five bytes for the size of the values, which here takes one. */
TEST(limits_of_records)
{
	struct xb_leaf leaf = {0};
	size_t size;

	fill(&leaf);
	assert_int_equal(count_records(&leaf, 0), 40);
	for (size_t limit = 1; limit < 300; limit++)
		count_records(&leaf, limit);
	free(write_all(&leaf, &size));
	assert_int_equal(count_records(&leaf, size + 4), 1);
	assert_true(count_records(&leaf, size - 1) > 1);
	xb_leaf_free(&leaf);
}

static void load(struct xb_leaf *leaf, struct xb_leaf *from)
{
	size_t size;
	uint8_t *record = write_all(from, &size);

	assert_int_equal(xb_leaf_load(leaf, record, size), 0);
	free(record);
	xb_leaf_free(from);
}

/* A leaf that had other entries, larger and smaller than those that come, or none. */
TEST(load_replaces)
{
	struct xb_leaf leaf = {0}, other = {0};

	put(&leaf, "x", "1");
	fill(&other);
	load(&leaf, &other);
	assert_int_equal(find(&leaf, "x"), 0);
	assert_int_equal(find(&leaf, "d39"), 1);
	put(&other, "y", "2");
	load(&leaf, &other);
	assert_holds(&leaf, "y=2");
	load(&leaf, &other);
	assert_holds(&leaf, "");
	put(&leaf, "a", "1");
	assert_holds(&leaf, "a=1");
	xb_leaf_free(&leaf);
}

/* values: "v" at place 0. */
#define VALUES	    "\2\1v"
#define BYTES(text) (text), sizeof(text) - 1

/* Where an entry can be read, what is written ends with the damage, not before. */
TEST(damage_is_noticed)
{
	static const char long_key[6 + 257 + 2] = VALUES "\0\201\2";
	static const struct {
		const char *what, *bytes;
		size_t size;
		bool is_read; /* it shows only when both are written */
	} cases[] = {
		{"nothing", BYTES(""), false},
		{"a size without end", BYTES("\200"), false},
		{"a size of six bytes", BYTES("\200\200\200\200\200\0"), false},
		{"values behind the end", BYTES("\2\1"), false},
		{"more shared than there is", BYTES(VALUES "\1\0\0"), false},
		{"a key behind the end", BYTES(VALUES "\0\4ab\0"), false},
		{"a key without a value", BYTES(VALUES "\0\1a"), false},
		{"a value behind the values", BYTES(VALUES "\0\1a\2"), false},
		{"a value that is too long", BYTES("\2\2v\0\1a\0"), false},
		{"a value without values", BYTES("\0\0\1a\0"), false},
		{"a key of 257 bytes", BYTES(long_key), false},
		{"half an entry", BYTES(VALUES "\0\1a\0\0"), false},
		{"half an entry behind two", BYTES(VALUES "\0\1a\0\0\1b\0\7"), false},
		/* They would need more room when both are written than the values had. */
		{"values that overlap", BYTES("\4\3\2vw\0\1a\0\0\1b\1"), true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *exact = malloc(cases[i].size + !cases[i].size), *record = NULL;
		struct xb_leaf_reader reader, written;
		size_t size;
		int more;

		assert_non_null(exact);
		memcpy(exact, cases[i].bytes, cases[i].size);
		more = xb_leaf_first(&reader, exact, cases[i].size);
		written = reader;
		if (more > 0 &&
		    (xb_leaf_write(&written, 1000, &record, &size) != -EUCLEAN || record))
			fail_msg("%s: is written", cases[i].what);
		while (more > 0)
			more = xb_leaf_next(&reader);
		if (more != (cases[i].is_read ? 0 : -EUCLEAN))
			fail_msg("%s: %d", cases[i].what, more);
		free(exact);
	}
}
