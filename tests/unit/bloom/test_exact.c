/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact table changed in place, on plain memory: how full it gets, and what it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/confirm_table.h"

static void duplicates_are_counted(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_exact table = make((struct xb_buckets){1, 100}, wide);

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
	struct xb_exact table = make((struct xb_buckets){1, 4}, false);
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
	struct xb_exact table = make((struct xb_buckets){1, 10}, true);

	(void)state;
	assert_false(xb_exact_contains(&table, 0, 0));
	assert_int_equal(xb_exact_delete(&table, 0, 0), -EUCLEAN);
	assert_int_equal(xb_exact_add(&table, 0, 0), 0);
	assert_true(xb_exact_contains(&table, 0, 0));
	assert_true(xb_exact_contains(&table, 1, 0));
	assert_int_equal(xb_exact_delete(&table, 0, 0), 0);
	assert_false(xb_exact_contains(&table, 0, 0));
	discard(&table);
}

static void deleting_what_is_absent_changes_nothing(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct xb_exact table = make((struct xb_buckets){1, 100}, wide);
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
static void filling_in_place(void **state)
{
	static const uint64_t sizes[] = {100, 8192, 60000, 400000};

	(void)state;
	for (uint32_t i = 0; i < amount(2, 8) * 4; i++) {
		bool wide = i & 1;
		struct xb_buckets geometry = xb_size_exact(sizes[i / 2 % 4], wide);
		uint64_t slots = slots_in(&geometry, wide), room = xb_exact_room(&geometry, wide);
		struct xb_exact table = make(geometry, wide);
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
		struct xb_buckets geometry = xb_size_exact(20000, wide);
		uint64_t room = xb_exact_room(&geometry, wide);
		struct xb_exact table = make(geometry, wide);
		uint32_t *in = make_keys(room), *out = make_keys(room);

		for (uint64_t i = 0; i < room; i++)
			assert_int_equal(add(&table, in[i]), 0);
		for (uint32_t i = 0; i < amount(100000, 300000); i++) {
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
