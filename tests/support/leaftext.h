/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaves of the store whose keys and values are text. */
#ifndef XB_TEST_LEAFTEXT_H
#define XB_TEST_LEAFTEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/leaf.h"
#include "support/cmocka.h"

static inline int find(struct xb_leaf *leaf, const char *key)
{
	return xb_leaf_find(leaf, (const uint8_t *)key, strlen(key));
}

static inline void put(struct xb_leaf *leaf, const char *key, const char *value)
{
	assert_in_range(find(leaf, key), 0, 1);
	assert_int_equal(xb_leaf_put(leaf, (const uint8_t *)key, strlen(key), value, strlen(value)),
			 0);
	assert_int_equal(leaf->place.value_size, strlen(value));
	assert_memory_equal(leaf->place.value, value, strlen(value));
}

static inline void drop(struct xb_leaf *leaf, const char *key)
{
	assert_int_equal(find(leaf, key), 1);
	assert_int_equal(xb_leaf_remove(leaf), 0);
}

/* The reader and all behind it as "KEY=VALUE KEY=VALUE". */
static inline void assert_reads(struct xb_leaf_reader *reader, int more, const char *expected)
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

static inline void assert_holds(const struct xb_leaf *leaf, const char *expected)
{
	struct xb_leaf_reader reader;

	assert_reads(&reader, xb_leaf_begin(leaf, &reader), expected);
}

/* As one record, whose bytes have none to spare, for the sanitizer. */
static inline uint8_t *write_all(const struct xb_leaf *leaf, size_t *size)
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

#endif
