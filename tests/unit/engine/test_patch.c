/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of entries as another program wants them, and how many may go at once. */
#include <stdio.h>

#include "base/error.h"
#include "engine/patch.h"
#include "store/listclass.h"
#include "store/lists.h"
#include "store/origins.h"
#include "support/cmocka.h"
#include "support/waiting.h"
#include "support/writer.h"

#define LATE 5000
#define MANY 3000

static struct xb_patch_item items[MANY];
static struct xb_patch patch;

static int begin_patch(void **state)
{
	patch = (struct xb_patch){.list = "ours", .items = items};
	return begin_writer(state);
}

static void want(uint32_t number, uint32_t until, bool exact)
{
	char text[32];

	snprintf(text, sizeof(text), "5.9.%u.%u", number >> 8, number & 255);
	items[patch.count++] =
		(struct xb_patch_item){.entry = entry_of(text), .until = until, .exact = exact};
}

static void apply(void)
{
	assert_int_equal(xb_patch_apply(&writer, &patch), 0);
	patch.count = 0;
}

TEST(the_list_has_its_origin_and_its_terms)
{
	patch.origin = XB_ORIGIN_CROWDSEC;
	assert_int_equal(xb_scope_parse("tcp/25", &patch.scope), 0);
	patch.scopes = patch.judges = true;
	patch.verdict = XB_DOMAIN_COUNT;
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 0);
	want(1, 0, true);
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 0);
	want(1, LATE, true);
	apply();
	assert_int_equal(xb_list_origins(xb_list_by_name(txn, "ours")), 1U << XB_ORIGIN_CROWDSEC);
	assert_int_equal(xb_list_by_name(txn, "ours")->verdict, XB_DOMAIN_COUNT);
	assert_true(xb_scope_equals(xb_list_scope(xb_list_by_name(txn, "ours")), &patch.scope));
}

/* What others have listed stays. */
TEST(times)
{
	patch.list = "others";
	want(1, LATE, false);
	apply();
	patch.list = "ours";
	want(1, LATE, false);
	want(2, LATE, false);
	want(3, NOW, false);
	apply();
	assert_int_equal(patch.added, 2);
	assert_int_equal(patch.members, 2);
	assert_store(txn, "5.9.0.1 others until 5000 ours until 5000; 5.9.0.2 ours until 5000");
	/* Shorter only where that is said; longer always. */
	want(1, LATE - 1, false);
	want(2, LATE - 1, true);
	apply();
	assert_int_equal(patch.renewed, 1);
	assert_int_equal(patch.unchanged, 1);
	assert_store(txn, "5.9.0.1 others until 5000 ours until 5000; 5.9.0.2 ours until 4999");
	want(1, LATE + 1, false);
	want(2, 0, true);
	want(3, 0, true);
	apply();
	assert_int_equal(patch.removed, 1);
	assert_int_equal(patch.members, 1);
	assert_store(txn, "5.9.0.1 others until 5000 ours until 5001");
	want(1, 0, true);
	apply();
	assert_store(txn, "5.9.0.1 others until 5000");
}

static void fill(void)
{
	for (uint32_t i = 0; i < MANY; i++)
		want(i, LATE, false);
	apply();
	assert_int_equal(patch.members, MANY);
}

static void take_out(uint32_t count, uint32_t until, uint64_t held)
{
	for (uint32_t i = 0; i < count; i++)
		want(i, until, true);
	apply();
	assert_int_equal(patch.held, held);
}

/* Half may go, and up to a thousand in any case. */
TEST(much)
{
	fill();
	take_out(MANY / 2 + 1, 0, MANY / 2 + 1);
	assert_int_equal(patch.removed, 0);
	assert_int_equal(patch.members, MANY);
	take_out(MANY / 2, 0, 0);
	assert_int_equal(patch.removed, MANY / 2);
	fill();
	patch.factor = MANY;
	take_out(MANY, 0, 0);
	assert_int_equal(patch.members, 0);
	patch.factor = 0;
	fill();
	take_out(2001, 0, 2001);
	take_out(999, 0, 0);
	assert_int_equal(patch.removed, 999);
}

/* To end at once is to go; to end soon, for what would have ended soon, is not. */
TEST(soon)
{
	fill();
	take_out(MANY - 1, NOW + XB_PATCH_SOON, MANY - 1);
	assert_int_equal(patch.renewed, 0);
	take_out(MANY - 1, NOW + XB_PATCH_SOON + 1, 0);
	assert_int_equal(patch.renewed, MANY - 1);
	take_out(MANY, NOW + XB_PATCH_SOON + 1, 0);
	patch.factor = 1e9;
	take_out(MANY, NOW + XB_PATCH_SOON, 0);
	patch.factor = 0;
	take_out(MANY, 0, 0);
	assert_int_equal(patch.removed, MANY);
}

/* What comes with too much that goes. */
TEST(additions)
{
	fill();
	want(MANY + 5, LATE, false);
	take_out(MANY - 1, 0, MANY - 1);
	assert_int_equal(patch.added, 1);
	assert_int_equal(patch.members, MANY + 1);
}

TEST(a_list_that_follows_a_fleet)
{
	share("ours", XB_SHARE_FOLLOW);
	want(1, LATE, false);
	assert_int_equal(xb_patch_apply(&writer, &patch), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "list ours follows fleet f: change it on a host that publishes it");
	assert_store(txn, "");
}

EACH_TEST(begin_patch, end_txn);
