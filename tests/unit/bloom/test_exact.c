/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact table on plain memory: how full it gets, and what it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bloom/sizing.h"
#include "support/confirm_table.h"

static int compare_words(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Every slot, sorted, and behind them how often 0.0.0.0 is there. */
static uint64_t *contents_of(const struct xb_confirm *table, size_t *count)
{
	const uint64_t *words = words_of(table);
	const uint32_t *halves = (const uint32_t *)(const void *)words;
	uint64_t *contents;

	*count = slots_in(&table->geometry, table->slots) + 1;
	contents = calloc(*count, sizeof(*contents));
	for (size_t i = 0; i + 1 < *count; i++)
		contents[i] = table->slots ? words[i] : halves[i];
	qsort(contents, *count - 1, sizeof(*contents), compare_words);
	contents[*count - 1] =
		words[(size_t)8 * table->geometry.parts * table->geometry.size + XB_BUCKET_ZERO];
	return contents;
}

static void assert_same_contents(const struct xb_confirm *a, const struct xb_confirm *b)
{
	size_t left, right;
	uint64_t *in_a = contents_of(a, &left), *in_b = contents_of(b, &right);

	assert_int_equal(left, right);
	assert_memory_equal(in_a, in_b, left * sizeof(*in_a));
	free(in_a);
	free(in_b);
}

/* ---- Building ---- */

struct shares {
	struct xb_confirm *table;
	const uint64_t *hashes;
	const uint32_t *addresses;
	size_t count;
	uint32_t part, parts;
	int error;
};

static uint32_t share_start(const struct shares *share, uint32_t part)
{
	return (uint32_t)((uint64_t)share->table->geometry.parts * part / share->parts);
}

/* As a builder does: its parts, the keys in chunks. */
static void *build_share(void *context)
{
	struct shares *share = context;
	uint32_t first = share_start(share, share->part),
		 last = share_start(share, share->part + 1);
	uint8_t *used = calloc((size_t)(last - first) * share->table->geometry.size + 1, 1);

	for (size_t at = 0; !share->error && at < share->count; at += 4096) {
		size_t chunk = share->count - at < 4096 ? share->count - at : 4096;

		share->error = xb_confirm_build(share->table, share->hashes + at,
						share->addresses + at, chunk, first, last, used);
	}
	free(used);
	return NULL;
}

#define THREADS_MAX 4

/* 0 or -EXFULL */
static int build(struct xb_confirm *table, const uint32_t *keys, size_t count, uint32_t threads)
{
	struct shares shares[THREADS_MAX];
	pthread_t thread[THREADS_MAX];
	uint64_t *hashes = calloc(count, sizeof(*hashes));
	int error = 0;

	for (size_t i = 0; i < count; i++)
		hashes[i] = hash_of(table, keys[i]);
	for (uint32_t i = 0; i < threads; i++) {
		shares[i] = (struct shares){table, hashes, keys, count, i, threads, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, build_share, &shares[i]), 0);
	}
	for (uint32_t i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		error = error ? error : shares[i].error;
	}
	free(hashes);
	return error;
}

/* Distinct, in random order: an odd multiple is a bijection. */
static uint32_t *make_keys(size_t count)
{
	uint32_t *keys = calloc(count, sizeof(*keys)), shift = (uint32_t)next_random();

	for (size_t i = 0; i < count; i++)
		keys[i] = ((uint32_t)i + shift) * 0x9e3779b1U;
	return keys;
}

/* How many of a hundred stand in their first bucket. */
static double first_of(struct xb_confirm *table, const uint32_t *keys, size_t count)
{
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t hash = hash_of(table, keys[i]);
		uint64_t value = table->slots ? xb_fingerprint(hash) : keys[i];
		struct xb_choices choices =
			xb_choices_of(&table->key, table->slots ? value : hash,
				      table->geometry.parts, table->geometry.size);
		const uint64_t *bucket = words_of(table) + (size_t)8 * choices.first;
		const uint32_t *halves = (const uint32_t *)(const void *)bucket;
		int slot = 0, slots = table->slots ? 8 : 16;

		while (slot < slots && (table->slots ? bucket[slot] : halves[slot]) != value)
			slot++;
		first += slot < slots;
	}
	return 100 * (double)first / (double)count;
}

/* The size asked for is for the keys and the room to grow; both are built, with so few parts and
 * slots left over, and nearly all stand where a packet looks first. */
static void a_million_keys_fill_the_first_buckets(void **state)
{
	const uint64_t keys = 1000000, capacity = keys + xb_size_headroom(keys);
	uint32_t *all = make_keys(capacity);

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_buckets geometry = xb_size_confirm(capacity, wide);
		double slots = (double)slots_in(&geometry, wide);

		printf("%s: %u parts of %u buckets, %.1f %% full with %lu keys, %.2f bytes each\n",
		       wide ? "wide" : "narrow", geometry.parts, geometry.size,
		       100 * (double)keys / slots, keys,
		       (double)xb_confirm_bytes(&geometry) / (double)keys);
		assert_true((double)keys / slots >= 0.98 * XB_CONFIRM_FILL);
		assert_true(geometry.parts > 4 && geometry.size >= 4096);
		assert_true(capacity <= xb_confirm_room(&geometry, wide));
		for (int whole = 0; whole < 2; whole++) {
			struct xb_confirm table = make(geometry, wide);
			size_t count = whole ? capacity : keys;
			double first;

			assert_int_equal(build(&table, all, count, 2), 0);
			for (size_t i = 0; i < count; i++)
				assert_true(has(&table, all[i]));
			first = first_of(&table, all, count);
			printf("%zu keys: %.2f %% in their first bucket\n", count, first);
			assert_true(first > (wide ? 92 : 96));
			discard(&table);
		}
	}
	free(all);
}

/* What is sized for few keys has a place for each of them, and one part. */
static void every_small_size_holds_its_keys(void **state)
{
	(void)state;
	for (uint64_t count = 1; count < 3000; count += 1 + count / 7) {
		for (int wide = 0; wide < 2; wide++) {
			struct xb_buckets geometry = xb_size_confirm(count, wide);
			struct xb_confirm table = make(geometry, wide);
			uint32_t *keys = make_keys(count);

			assert_int_equal(geometry.parts, 1);
			assert_int_equal(build(&table, keys, count, 1), 0);
			for (uint64_t i = 0; i < count; i++)
				assert_true(has(&table, keys[i]));
			free(keys);
			discard(&table);
		}
	}
}

static void building_equals_adding(void **state)
{
	const size_t count = 150000;

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_buckets geometry = xb_size_confirm(count, wide);
		struct xb_confirm one = make(geometry, wide);
		uint32_t *keys = make_keys(count);

		keys[7] = keys[8] = keys[9] = keys[count - 1]; /* ranges that overlap */
		if (!wide)
			keys[10] = keys[11] = 0; /* 0.0.0.0 */
		for (size_t i = 0; i < count; i++)
			assert_int_equal(add(&one, keys[i]), 0);
		for (uint32_t threads = 1; threads <= THREADS_MAX; threads++) {
			struct xb_confirm built = make(geometry, wide);

			built.key = one.key;
			assert_true(geometry.parts > 1);
			assert_int_equal(build(&built, keys, count, threads), 0);
			assert_same_contents(&one, &built);
			for (size_t i = 0; i < count; i++)
				assert_true(has(&built, keys[i]));
			discard(&built);
		}
		discard(&one);
		free(keys);
	}
}

/* Both buckets of a key lie in one part: threads that have a part each never meet. */
static void both_choices_lie_in_one_part(void **state)
{
	const struct xb_buckets geometry = {.parts = 7, .size = 4099};
	const struct xb_key key = {next_random(), next_random()};
	uint32_t seen[7] = {0};

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct xb_choices choices =
			xb_choices_of(&key, next_random(), geometry.parts, geometry.size);

		assert_true(choices.first < geometry.parts * geometry.size);
		assert_int_equal(choices.first / geometry.size, choices.second / geometry.size);
		seen[choices.first / geometry.size]++;
	}
	for (int part = 0; part < 7; part++)
		assert_in_range(seen[part], 100000 / 7 - 800, 100000 / 7 + 800);
}

/* ---- Adding and deleting ---- */

static void duplicates_are_counted(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_confirm table = make((struct xb_buckets){1, 100}, wide);

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

static void the_unspecified_address_is_counted_apart(void **state)
{
	struct xb_confirm table = make((struct xb_buckets){1, 4}, false);
	uint64_t *words = words_of(&table);

	(void)state;
	assert_false(has(&table, 0));
	assert_int_equal(del(&table, 0), -EUCLEAN);
	assert_int_equal(add(&table, 0), 0);
	assert_int_equal(add(&table, 0), 0);
	for (int i = 0; i < 4 * 8; i++)
		assert_int_equal(words[i], 0);
	assert_int_equal(words[4 * 8 + XB_BUCKET_ZERO], 2);
	assert_int_equal(del(&table, 0), 0);
	assert_true(has(&table, 0));
	assert_int_equal(del(&table, 0), 0);
	assert_false(has(&table, 0));
	assert_int_equal(del(&table, 0), -EUCLEAN);
	discard(&table);
}

/* A hash of 0 would be a free slot: it stands as 1, and is the same as a hash of 1. */
static void the_fingerprint_of_nothing_is_one(void **state)
{
	struct xb_confirm table = make((struct xb_buckets){1, 10}, true);

	(void)state;
	assert_false(xb_confirm_contains(&table, 0, 0));
	assert_int_equal(xb_confirm_delete(&table, 0, 0), -EUCLEAN);
	assert_int_equal(xb_confirm_add(&table, 0, 0), 0);
	assert_true(xb_confirm_contains(&table, 0, 0));
	assert_true(xb_confirm_contains(&table, 1, 0));
	assert_int_equal(xb_confirm_delete(&table, 0, 0), 0);
	assert_false(xb_confirm_contains(&table, 0, 0));
	discard(&table);
}

static void deleting_what_is_absent_changes_nothing(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_confirm table = make((struct xb_buckets){1, 100}, wide);
		size_t bytes = xb_confirm_bytes(&table.geometry);
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
static uint64_t fill_up(struct xb_confirm *table, const uint32_t *keys)
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
static void filling_in_place(void **state)
{
	static const uint64_t sizes[] = {100, 8192, 60000, 400000};

	(void)state;
	for (int i = 0; i < 8 * 4; i++) {
		bool wide = i & 1;
		struct xb_buckets geometry = xb_size_confirm(sizes[i / 2 % 4], wide);
		uint64_t slots = slots_in(&geometry, wide), room = xb_confirm_room(&geometry, wide);
		struct xb_confirm table = make(geometry, wide);
		uint32_t *keys = make_keys(slots + 1);
		uint64_t count = fill_up(&table, keys);

		printf("%s, %lu slots: full at %.2f %%, %lu moves\n", wide ? "wide" : "narrow",
		       slots, 100 * (double)count / (double)slots, moves_of(&table));
		assert_true(count >= room && count <= slots);
		for (uint64_t j = 0; j < count; j++)
			assert_true(has(&table, keys[j]));
		assert_false(has(&table, keys[count]));
		for (uint64_t j = 0; j < count; j++) {
			assert_true(has(&table, keys[j]));
			assert_int_equal(del(&table, keys[j]), 0);
		}
		free(keys);
		discard(&table);
	}
}

/* Changed over and over at its fullest, against an array that knows what is in it. */
static void churn_at_the_fullest(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_buckets geometry = xb_size_confirm(20000, wide);
		uint64_t room = xb_confirm_room(&geometry, wide);
		struct xb_confirm table = make(geometry, wide);
		uint32_t *in = make_keys(room), *out = make_keys(room);

		for (uint64_t i = 0; i < room; i++)
			assert_int_equal(add(&table, in[i]), 0);
		for (int i = 0; i < 300000; i++) {
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
		for (uint64_t i = 0; i < room; i++) {
			assert_true(has(&table, in[i]));
			assert_int_equal(del(&table, in[i]), 0);
		}
		for (uint64_t i = 0; i < 8UL * geometry.parts * geometry.size; i++)
			assert_int_equal(words_of(&table)[i], 0);
		free(in);
		free(out);
		discard(&table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_keys_fill_the_first_buckets),
		cmocka_unit_test(every_small_size_holds_its_keys),
		cmocka_unit_test(building_equals_adding),
		cmocka_unit_test(both_choices_lie_in_one_part),
		cmocka_unit_test(duplicates_are_counted),
		cmocka_unit_test(the_unspecified_address_is_counted_apart),
		cmocka_unit_test(the_fingerprint_of_nothing_is_one),
		cmocka_unit_test(deleting_what_is_absent_changes_nothing),
		cmocka_unit_test(filling_in_place),
		cmocka_unit_test(churn_at_the_fullest),
	};

	begin_random();
	return cmocka_run_group_tests_name("confirm", tests, NULL, NULL);
}
