/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of IPv6 prefixes with few and with many lengths, built at once and grown one by one,
 * against an oracle that compares prefixes: one length that all packets look up, lengths with
 * slots, and those that come when no slot is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/oracle.h"
#include "support/random.h"

#define ENTRIES_MAX 200
#define SOURCES	    amount(4, 20) /* of each entry */

static struct rig rig;
static struct oracle oracle;

/* Entries whose lengths take turns; of those beyond /32, three in each /32. */
static size_t make_list(struct xb_entry *entries, const uint8_t *lengths, size_t count, size_t each)
{
	uint64_t head = 0;

	for (size_t i = 0; i < count * each;) {
		struct xb_entry whole = oracle_random(&random_state, false, 128);
		uint8_t length = lengths[i % count];

		if (i % 3 == 0)
			head = whole.hi >> 32;
		if (length > XB_LENGTH_SPLIT)
			whole.hi = head << 32 | (whole.hi & 0xffffffff);
		entries[i] = xb_entry_covering(&whole, length);
		i += !entry_is_among(entries, i, &entries[i]);
	}
	return count * each;
}

static void check_source(int program, const struct xb_entry *source)
{
	bool dropped = rig_run_from(program, source) == XDP_DROP;
	char text[XB_ENTRY_TEXT];

	if (dropped != oracle_covers(&oracle, source))
		fail_msg("%s %s", xb_entry_format(source, text), dropped ? "dropped" : "passed");
}

/* Sources in each entry, and beside it: where its last bit, or any below its /32, is another. */
static void check(const struct xb_entry *entries, size_t count)
{
	int program = rig_entry(&rig);

	for (size_t i = 0; i < count * SOURCES; i++) {
		const struct xb_entry *entry = &entries[i % count];
		struct xb_entry source = oracle_address_in(&random_state, entry);
		uint32_t last = entry->length;

		check_source(program, &source);
		if (last > 64)
			source.lo ^= 1ULL << (128 - last);
		else if (last)
			source.hi ^= 1ULL << (64 - last);
		check_source(program, &source);
		source.hi ^= rig_random(&random_state) & 0xffffffff;
		source.lo = rig_random(&random_state);
		check_source(program, &source);
	}
	close(program);
}

static void know(const struct xb_entry *entries, size_t count)
{
	oracle_free(&oracle);
	oracle = (struct oracle){0};
	for (size_t i = 0; i < count; i++)
		oracle_add(&oracle, &entries[i]);
	oracle_sort(&oracle);
}

/* `at_once` entries make the generation, and the others change it. */
static void list_and_check(const uint8_t *lengths, size_t count, size_t each, size_t at_once)
{
	struct xb_entry entries[ENTRIES_MAX];
	size_t all = make_list(entries, lengths, count, each);
	struct xb_generation *first, *last;

	rig_begin(&rig, "lengths");
	rig_add_all(&rig, entries, at_once);
	first = rig_generation(&rig);
	know(entries, at_once);
	check(entries, at_once);
	for (size_t i = at_once; i < all; i++) {
		rig_change_all(&rig, &entries[i], 1, true);
		know(entries, i + 1);
		check(&entries[i], 1);
	}
	check(entries, all);
	last = rig_generation(&rig);
	/* None of this was a reason to build anew: the first have lengths up to /32 and beyond, if
	 * any has. */
	assert_int_equal(first->params.generation, last->params.generation);
	assert_true(rig_matches_rebuild(&rig));
	xb_generation_close(first);
	xb_generation_close(last);
	rig_change_all(&rig, entries, at_once, false);
	know(entries + at_once, all - at_once);
	check(entries, all);
	rig_end(&rig);
}

static int begin(void **state)
{
	random_begin();
	return 0;
}

static int end(void **state)
{
	oracle_free(&oracle);
	return 0;
}

#define LIST(at_once, each, ...)                                                                   \
	do {                                                                                       \
		static const uint8_t lengths[] = {__VA_ARGS__};                                    \
                                                                                                   \
		list_and_check(lengths, sizeof(lengths), each, at_once);                           \
	} while (0)

TEST(one_length)
{
	LIST(10, 20, 128);
	LIST(1, 20, 64);
	LIST(1, 20, 32);
	LIST(10, 20, 29);
}

TEST(few_lengths)
{
	LIST(30, 20, 64, 128);
	LIST(1, 20, 128, 64);
	LIST(30, 20, 29, 64);
	LIST(60, 20, 32, 40, 44, 48, 56, 64);
	LIST(3, 10, 20, 28, 48, 56, 64, 65, 128);
}

/* More than there are slots, of both kinds. */
TEST(many_lengths)
{
	LIST(10, 2, 128, 32, 127, 97, 96, 95, 65, 64, 63, 49, 48, 33);
	LIST(5, 2, 31, 48, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 128);
	LIST(14, 2, 48, 128, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22);
}

/* Those that share a level, and lie in each other: what one of them covers stays when another one
 * goes. */
TEST(common_levels)
{
	static const uint8_t lengths[] = {45, 48, 46, 47, 62, 66, 64, 63, 65};
	struct xb_entry entries[sizeof(lengths)], whole;
	struct xb_generation *first, *last;

	rig_begin(&rig, "levels");
	whole = oracle_random(&random_state, false, 128);
	for (size_t i = 0; i < sizeof(lengths); i++)
		entries[i] = xb_entry_covering(&whole, lengths[i]);
	rig_add_all(&rig, entries, sizeof(lengths));
	first = rig_generation(&rig);
	assert_int_equal(first->params.levels6.of[45 - XB_LEVELS6_FIRST], 48);
	assert_int_equal(first->params.levels6.of[62 - XB_LEVELS6_FIRST], 66);
	assert_int_equal(first->header->net6_keys, 8 + 1 + 4 + 2 + 16 + 1 + 4 + 8 + 2);
	know(entries, sizeof(lengths));
	check(entries, sizeof(lengths));
	for (size_t round = 0; round < 4; round++) {
		size_t kept = 0;

		/* A different half goes and comes back each time. */
		for (size_t i = 0; i < sizeof(lengths); i++)
			if (i >> (round % 2) & 1)
				rig_change_all(&rig, &entries[i], 1, false);
		oracle_free(&oracle);
		oracle = (struct oracle){0};
		for (size_t i = 0; i < sizeof(lengths); i++)
			if (!(i >> (round % 2) & 1)) {
				oracle_add(&oracle, &entries[i]);
				kept++;
			}
		oracle_sort(&oracle);
		assert_true(kept < sizeof(lengths));
		check(entries, sizeof(lengths));
		assert_true(rig_matches_rebuild(&rig));
		for (size_t i = 0; i < sizeof(lengths); i++)
			if (i >> (round % 2) & 1)
				rig_change_all(&rig, &entries[i], 1, true);
		know(entries, sizeof(lengths));
		check(entries, sizeof(lengths));
	}
	last = rig_generation(&rig);
	assert_int_equal(first->params.generation, last->params.generation);
	assert_true(rig_matches_rebuild(&rig));
	xb_generation_close(first);
	xb_generation_close(last);
	rig_end(&rig);
}

TEST(all_lengths)
{
	uint8_t lengths[128 - 12 + 1];

	for (size_t i = 0; i < sizeof(lengths); i++)
		lengths[i] = (uint8_t)(128 - i);
	lengths[1] = 32;
	lengths[128 - 32] = 127;
	list_and_check(lengths, sizeof(lengths), 1, 2);
	list_and_check(lengths, sizeof(lengths), 1, sizeof(lengths) - 1);
}

ALL_TESTS(begin, end);
