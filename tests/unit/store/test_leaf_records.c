/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaves as records: how many entries go into one, what is read back, damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/leaftext.h"

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

/* One entry even if none fits; else no record is larger than the limit. */
TEST(limits_of_records)
{
	struct xb_leaf_reader all, reader;
	struct xb_leaf leaf = {0};

	fill(&leaf);
	for (size_t limit = 0; limit < 300; limit++) {
		size_t total = 0;

		assert_int_equal(xb_leaf_begin(&leaf, &reader), 1);
		assert_int_equal(xb_leaf_begin(&leaf, &all), 1);
		while (reader.at < reader.entries_size) {
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
	}
	xb_leaf_free(&leaf);
}

/* The limit counts five bytes for the size of the values, which here takes one. */
TEST(a_record_is_as_full_as_it_can_be)
{
	struct xb_leaf_reader reader;
	struct xb_leaf leaf = {0};
	uint8_t *record;
	size_t size;

	fill(&leaf);
	record = write_all(&leaf, &size);
	free(record);
	assert_int_equal(xb_leaf_begin(&leaf, &reader), 1);
	assert_int_equal(xb_leaf_write(&reader, size + 4, &record, &size), 0);
	assert_int_equal(reader.at, reader.entries_size);
	free(record);
	assert_int_equal(xb_leaf_begin(&leaf, &reader), 1);
	assert_int_equal(xb_leaf_write(&reader, size - 1, &record, &size), 0);
	assert_in_range(reader.at, 1, reader.entries_size - 1);
	free(record);
	xb_leaf_free(&leaf);
}

TEST(an_end_has_no_entries)
{
	struct xb_leaf leaf = {0};
	struct xb_leaf_reader reader;
	uint8_t *record;
	size_t size;

	record = write_all(&leaf, &size);
	assert_reads(&reader, xb_leaf_first(&reader, record, size), "");
	assert_int_equal(xb_leaf_load(&leaf, record, size), 0);
	free(record);
	assert_holds(&leaf, "");
	put(&leaf, "a", "1");
	assert_holds(&leaf, "a=1");
	xb_leaf_free(&leaf);
}

/* A leaf that had other entries, larger and smaller than those that come. */
TEST(load_replaces)
{
	struct xb_leaf leaf = {0}, other = {0};
	uint8_t *record;
	size_t size;

	put(&leaf, "x", "1");
	fill(&other);
	record = write_all(&other, &size);
	assert_int_equal(xb_leaf_load(&leaf, record, size), 0);
	free(record);
	assert_int_equal(find(&leaf, "x"), 0);
	assert_int_equal(find(&leaf, "d39"), 1);
	xb_leaf_free(&other);
	put(&other, "y", "2");
	record = write_all(&other, &size);
	assert_int_equal(xb_leaf_load(&leaf, record, size), 0);
	free(record);
	assert_holds(&leaf, "y=2");
	xb_leaf_free(&leaf);
	xb_leaf_free(&other);
}

/* values: "v" at place 0. */
#define VALUES "\x02\x01v"

TEST(damage_is_noticed)
{
	static const char long_key[6 + 257 + 1] = VALUES "\x00\x81\x02";
	static const struct {
		const char *what, *bytes;
		size_t size;
	} cases[] = {
		{"nothing", "", 0},
		{"a size without end", "\x80", 1},
		{"a size of six bytes", "\x80\x80\x80\x80\x80\x00", 6},
		{"values behind the end", "\x02\x01", 2},
		{"more shared than there is", VALUES "\x01\x00\x00", 6},
		{"a key behind the end",
		 VALUES "\x00\x04"
			"ab\x00",
		 7},
		{"a key without a value",
		 VALUES "\x00\x01"
			"a",
		 6},
		{"a value behind the values",
		 VALUES "\x00\x01"
			"a\x02",
		 7},
		{"a value that is too long",
		 "\x02\x02v\x00\x01"
		 "a\x00",
		 7},
		{"a value without values",
		 "\x00\x00\x01"
		 "a\x00",
		 5},
		{"a key of 257 bytes", long_key, sizeof(long_key)},
		{"half an entry",
		 VALUES "\x00\x01"
			"a\x00\x00",
		 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *exact = malloc(cases[i].size + !cases[i].size);
		struct xb_leaf_reader reader;
		int more;

		assert_non_null(exact);
		memcpy(exact, cases[i].bytes, cases[i].size);
		more = xb_leaf_first(&reader, exact, cases[i].size);
		while (more > 0)
			more = xb_leaf_next(&reader);
		if (more != -EUCLEAN)
			fail_msg("%s: %d", cases[i].what, more);
		free(exact);
	}
}

/* What it writes ends with the damage, not before. */
TEST(damage_is_not_written_on)
{
	static const uint8_t bytes[] = VALUES "\x00\x01"
					      "a\x00"
					      "\x00\x01"
					      "b\x00"
					      "\x07";
	struct xb_leaf_reader reader;
	uint8_t *record = NULL;
	size_t size;

	assert_int_equal(xb_leaf_first(&reader, bytes, sizeof(bytes) - 1), 1);
	assert_int_equal(xb_leaf_write(&reader, 1000, &record, &size), -EUCLEAN);
	assert_null(record);
}

/* A value inside another would need more room when both are written than the values had. */
TEST(values_that_overlap_are_damage)
{
	static const uint8_t bytes[] = "\x04\x03\x02"
				       "vw"
				       "\x00\x01"
				       "a\x00"
				       "\x00\x01"
				       "b\x01";
	struct xb_leaf_reader reader;
	uint8_t *record = NULL;
	size_t size;

	assert_int_equal(xb_leaf_first(&reader, bytes, sizeof(bytes) - 1), 1);
	assert_int_equal(xb_leaf_write(&reader, 1000, &record, &size), -EUCLEAN);
	assert_null(record);
}
