/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Edits that are applied in the order of the store come out as if each had been made in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomd/api/edits.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

#define NOW	1800000000U
#define LISTS	3
#define ENTRIES 24
#define EDITS	40
#define WORDS	6

static const char *const lists[LISTS] = {"one", "two", "three"};

/* What the lists have, one edit after the other. */
struct member {
	bool there;
	uint32_t expires;
};
static struct member model[LISTS][ENTRIES];

static const char *entry_text(unsigned int number, char text[64])
{
	static const char *const forms[] = {"10.0.%u.0/24", "192.0.2.%u",   "2001:db8::%u",
					    "d%u.example",  "=d%u.example", "198.51.%u.0/29"};

	snprintf(text, 64, forms[number % 6], number / 6);
	return text;
}

static bool later(uint32_t a, uint32_t b)
{
	return b && (!a || a > b);
}

static enum edit_outcome add_to_model(const struct edit *edit, struct member *member,
				      uint32_t expires)
{
	bool was = member->there;
	uint32_t before = member->expires;

	if (was ? edit->rules & EDIT_NEW_ONLY : edit->rules & EDIT_OLD_ONLY)
		return EDIT_SAME;
	if (was && edit->rules & EDIT_LATER_ONLY && !later(expires, before))
		return EDIT_SAME;
	if (was && edit->rules & EDIT_SOONER_ONLY && !later(before, expires))
		return EDIT_SAME;
	if (was && !edit->timed)
		return EDIT_SAME;
	*member = (struct member){true, expires};
	return !was ? EDIT_ADDED : before == expires ? EDIT_SAME : EDIT_RENEWED;
}

static enum edit_outcome take_from_model(struct member *member)
{
	bool was = member->there;

	*member = (struct member){0};
	return was ? EDIT_REMOVED : EDIT_SAME;
}

struct all {
	struct edit edit[EDITS];
	unsigned int list[EDITS], entry[EDITS * WORDS];
	uint32_t expires[EDITS * WORDS];
};

static const struct edit *find(const void *context, uint32_t number)
{
	const struct all *all = context;

	return &all->edit[number];
}

static void make_edit(struct all *all, struct edits *edits, uint32_t number)
{
	static const uint8_t rules[] = {0,
					0,
					EDIT_NEW_ONLY,
					EDIT_OLD_ONLY,
					EDIT_LATER_ONLY,
					EDIT_SOONER_ONLY,
					EDIT_OLD_ONLY | EDIT_LATER_ONLY};
	struct edit *edit = &all->edit[number];

	all->list[number] = (unsigned int)rand() % LISTS;
	*edit = (struct edit){.list = lists[all->list[number]],
			      .add = rand() % 3,
			      .first = (uint32_t)edits->count};
	edit->timed = edit->add && rand() % 2;
	if (edit->timed)
		edit->rules = rules[(size_t)rand() % sizeof(rules)];
	for (int i = rand() % WORDS; i >= 0; i--) {
		unsigned int entry = (unsigned int)rand() % ENTRIES;
		uint32_t expires = edit->timed && rand() % 4 ? NOW + 1 + (uint32_t)rand() % 5 : 0;
		char text[64];

		all->entry[edits->count] = entry;
		all->expires[edits->count] = expires;
		entry_text(entry, text);
		assert_int_equal(edits_take(edits, edit, number, text, strlen(text), expires), 0);
	}
}

static enum edit_outcome expected(const struct all *all, uint32_t number, uint32_t slot)
{
	struct member *member = &model[all->list[number]][all->entry[slot]];

	return all->edit[number].add ? add_to_model(&all->edit[number], member, all->expires[slot])
				     : take_from_model(member);
}

static void check_outcomes(const struct all *all, const struct edits *edits)
{
	for (uint32_t i = 0; i < EDITS; i++)
		for (uint32_t at = 0; at < all->edit[i].count; at++) {
			uint32_t slot = all->edit[i].first + at;

			assert_int_equal(edits->slot[slot].outcome, expected(all, i, slot));
		}
}

TEST_WITH(test_order_does_not_show, begin_txn, end_txn)
{
	struct xb_writer writer = {.builder_lock = -1, .writer_lock = -1, .now = NOW};
	struct edits edits = {0};
	struct all all;

	writer.txn = txn;
	srand(17);
	for (int turn = 0; turn < 300; turn++) {
		for (uint32_t i = 0; i < EDITS; i++)
			make_edit(&all, &edits, i);
		edits_begin(&edits);
		for (uint32_t i = 0; i < EDITS; i++)
			assert_int_equal(edits_gather(&edits, &writer, &all.edit[i]), 0);
		assert_int_equal(edits_apply(&edits, &writer, find, &all), 0);
		check_outcomes(&all, &edits);
		edits_clear(&edits);
	}
	edits_free(&edits);
}

static void assert_refused(const char *text, const char *why)
{
	struct edits edits = {0};
	struct edit edit = {.list = "one", .add = true};

	assert_int_equal(edits_take(&edits, &edit, 0, "192.0.2.1", 9, 0), 0);
	assert_true(edits_take(&edits, &edit, 0, text, strlen(text), 0) < 0);
	assert_non_null(strstr(xb_error_message(), why));
	xb_error_clear();
	edits_cancel(&edits, &edit);
	assert_int_equal(edits.count, 0);
	edits_free(&edits);
}

TEST(test_refused)
{
	assert_refused("0.0.0.0/7", "shorter than /8");
	assert_refused("2000::/15", "shorter than /16");
	assert_refused("com", "top-level domain");
	assert_refused("http://a.example/", "");
}
