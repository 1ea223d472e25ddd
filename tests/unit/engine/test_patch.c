/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of entries as another program wants them, and how many may go at once. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "engine/patch.h"
#include "store/lists.h"
#include "store/membership.h"
#include "store/origins.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

#define NOW  1000
#define LATE 5000
#define MANY 3000

static struct xb_patch_item items[MANY];
static struct xb_patch patch;

static int open_txn(void **state)
{
	int error = begin(state);

	patch = (struct xb_patch){.list = "ours", .items = items};
	return error ? error : xb_store_write(store, &txn);
}

static struct xb_entry entry_of(uint32_t number)
{
	struct xb_entry entry;
	char text[32];

	snprintf(text, sizeof(text), "5.9.%u.%u", number >> 8, number & 255);
	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	return entry;
}

static void want(uint32_t number, uint32_t until, bool exact)
{
	items[patch.count++] =
		(struct xb_patch_item){.entry = entry_of(number), .until = until, .exact = exact};
}

static void apply(void)
{
	struct xb_writer writer = {.txn = txn, .now = NOW};

	assert_int_equal(xb_patch_apply(&writer, &patch), 0);
	patch.count = 0;
}

/* Until when the list has it; 0: it has not. */
static uint32_t until_of(uint32_t number, const char *name)
{
	struct xb_list *list = xb_list_by_name(txn, name);
	struct xb_entry entry = entry_of(number);
	struct xb_membership member;
	struct xb_members members;

	if (!list || xb_members_of(txn, &entry, &members) ||
	    !xb_members_have(members, list->id, &member))
		return 0;
	return member.expires ?: UINT32_MAX;
}

TEST(the_list_has_its_origin)
{
	patch.origin = XB_ORIGIN_CROWDSEC;
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 0);
	want(1, 0, true);
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 0);
	want(1, LATE, true);
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 1U << XB_ORIGIN_CROWDSEC);
}

TEST(times)
{
	want(1, LATE, false);
	want(2, LATE, false);
	want(3, NOW, false);
	apply();
	assert_int_equal(patch.added, 2);
	assert_int_equal(patch.members, 2);
	assert_int_equal(until_of(1, "ours"), LATE);
	assert_int_equal(until_of(3, "ours"), 0);
	/* Shorter only where that is said; longer always. */
	want(1, LATE - 1, false);
	want(2, LATE - 1, true);
	apply();
	assert_int_equal(patch.renewed, 1);
	assert_int_equal(patch.unchanged, 1);
	assert_int_equal(until_of(1, "ours"), LATE);
	assert_int_equal(until_of(2, "ours"), LATE - 1);
	want(1, LATE + 1, false);
	want(2, 0, true);
	want(3, 0, true);
	apply();
	assert_int_equal(patch.removed, 1);
	assert_int_equal(patch.members, 1);
	assert_int_equal(until_of(1, "ours"), LATE + 1);
	assert_int_equal(until_of(2, "ours"), 0);
}

/* What others have listed stays. */
TEST(other_lists)
{
	patch.list = "others";
	want(1, LATE, false);
	apply();
	patch.list = "ours";
	want(1, LATE, false);
	apply();
	want(1, 0, true);
	apply();
	assert_int_equal(until_of(1, "ours"), 0);
	assert_int_equal(until_of(1, "others"), LATE);
}

static void fill(uint32_t until)
{
	for (uint32_t i = 0; i < MANY; i++)
		want(i, until, false);
	apply();
	assert_int_equal(patch.members, MANY);
}

static void take_out(uint32_t count, uint32_t until)
{
	for (uint32_t i = 0; i < count; i++)
		want(i, until, true);
	apply();
}

/* Half may go, and up to a thousand in any case. */
TEST(much)
{
	fill(LATE);
	take_out(MANY / 2 + 1, 0);
	assert_int_equal(patch.removed, 0);
	assert_int_equal(patch.held, MANY / 2 + 1);
	assert_int_equal(patch.members, MANY);
	take_out(MANY / 2, 0);
	assert_int_equal(patch.removed, MANY / 2);
	assert_int_equal(patch.held, 0);
	fill(LATE);
	patch.factor = MANY;
	take_out(MANY, 0);
	assert_int_equal(patch.members, 0);
	patch.factor = 0;
	fill(LATE);
	take_out(2001, 0);
	take_out(999, 0);
	assert_int_equal(patch.removed, 999);
}

/* To end at once is to go; to end soon, for what would have ended soon, is not. */
TEST(soon)
{
	fill(LATE);
	take_out(MANY - 1, NOW + XB_PATCH_SOON);
	assert_int_equal(patch.held, MANY - 1);
	assert_int_equal(until_of(0, "ours"), LATE);
	take_out(MANY - 1, NOW + XB_PATCH_SOON + 1);
	assert_int_equal(patch.held, 0);
	assert_int_equal(until_of(0, "ours"), NOW + XB_PATCH_SOON + 1);
	take_out(MANY, NOW + XB_PATCH_SOON + 1);
	patch.factor = 1e9;
	take_out(MANY, NOW + XB_PATCH_SOON);
	patch.factor = 0;
	take_out(MANY, 0);
	assert_int_equal(patch.removed, MANY);
}

/* What comes with too much that goes. */
TEST(additions)
{
	fill(LATE);
	for (uint32_t i = 0; i < MANY - 1; i++)
		want(i, 0, true);
	want(MANY + 5, LATE, false);
	apply();
	assert_int_equal(patch.added, 1);
	assert_int_equal(patch.held, MANY - 1);
	assert_int_equal(until_of(MANY + 5, "ours"), LATE);
}

TEST(terms)
{
	assert_int_equal(xb_scope_parse("tcp/25", &patch.scope), 0);
	patch.scopes = patch.judges = true;
	patch.verdict = XB_DOMAIN_COUNT;
	want(1, LATE, false);
	apply();
	assert_int_equal(xb_list_by_name(txn, "ours")->verdict, XB_DOMAIN_COUNT);
}

EACH_TEST(open_txn, end_txn);
