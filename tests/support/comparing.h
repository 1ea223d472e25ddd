/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A taker of a fleet that is compared with the maker's snapshot, and loads parts of it for that. */
#ifndef XB_TEST_COMPARING_H
#define XB_TEST_COMPARING_H

#include <stdlib.h>
#include <string.h>

#include "bloomd/fleet/comparison.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"

static struct snapshot_parts parts;
static struct comparison found;
static size_t chunks_loaded, blooms_loaded;

/* --- the server --- */

static inline void load(const struct snapshot_part *part)
{
	int file = part->kind == PART_CHUNK ? chunks : blooms;
	uint8_t *bytes = malloc(part->size);

	assert_int_equal(pread(file, bytes, part->size, part->at), part->size);
	assert_int_equal(parts_put(&parts, part, bytes), 0);
	free(bytes);
	chunks_loaded += part->kind == PART_CHUNK;
	blooms_loaded += part->kind == PART_BLOOM;
}

static inline int try_compare(size_t limit)
{
	struct snapshot_part part;
	int error = parts_make(&parts, &manifest, "/tmp");

	chunks_loaded = blooms_loaded = 0;
	for (unsigned int rounds = 0; !error; rounds++) {
		found.limit = limit;
		error = compare_with_snapshot(at(&taker), NOW, &parts, &key, &found);
		if (error || !found.unfinished)
			break;
		assert_true(rounds < 3);
		comparison_free(&found);
		while (parts_next(&parts, &part))
			load(&part);
	}
	parts_free(&parts);
	return error;
}

static inline void compare(void)
{
	comparison_free(&found);
	assert_int_equal(try_compare(1000000), 0);
	assert_int_equal(found.count, comparison_total(&found));
}

static inline const struct compared_list *of(const char *list)
{
	for (size_t i = 0; i < found.list_count; i++)
		if (!strcmp(found.list[i].name, list))
			return &found.list[i];
	return NULL;
}

static inline int begin(void **state)
{
	int error = begin_hosts(state);

	stand(&taker, epoch, 1, 100);
	return error;
}

static inline int end(void **state)
{
	comparison_free(&found);
	return end_hosts(state);
}

/* Even addresses, whose long comments make for several chunks. */
static inline void fill(struct xb_txn *txn)
{
	char text[32], comment[251] = "";

	memset(comment, 'a', sizeof(comment) - 1);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "198.18.%u.%u", i >> 7, i * 2 & 255);
		list_with(txn, text, "bans", 0, comment);
	}
}

static inline void fill_both(void)
{
	fill(at(&maker));
	fill(at(&taker));
}

#endif
