/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes ask for less than there is. */
#include <string.h>

#include "engine/relief.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

static void put(struct xb_txn *txn, const char *text, const char *name)
{
	struct xb_membership member = {.added = 1};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	assert_int_equal(xb_list_need(txn, name, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
}

static bool is_relief(struct xb_txn *txn, const struct xb_meta *before)
{
	bool is = xb_relief_is(before, txn);

	xb_txn_abort(txn);
	return is;
}

static struct xb_txn *writes(struct xb_meta *before)
{
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	*before = txn->meta;
	return txn;
}

static void judge(struct xb_txn *txn, const char *list, uint32_t verdict)
{
	assert_int_equal(xb_domain_verdict_set(txn, xb_list_by_name(txn, list), verdict), 0);
}

/* A stricter verdict asks for more, whether a list gets it or a name by one more list. */
TEST(what_asks_for_less)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	put(txn, "example.com", "lenient");
	judge(txn, "lenient", XB_DOMAIN_REFUSED);
	put(txn, "example.org", "strict");
	put(txn, "example.net", "counted");
	judge(txn, "counted", XB_DOMAIN_COUNT);
	assert_int_equal(xb_txn_commit(txn), 0);

	txn = writes(&before);
	judge(txn, "lenient", XB_DOMAIN_DROP);
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	judge(txn, "lenient", XB_DOMAIN_COUNT);
	assert_true(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "example.com", "strict");
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "example.com", "counted");
	assert_true(is_relief(txn, &before));
}

/* Under which policy more is dropped. From allow-only, each way leads out. */
TEST(policies)
{
	static const bool relief[3][3] = {
		[XB_POLICY_ENFORCE] = {true, true, false},
		[XB_POLICY_MONITOR] = {false, true, false},
		[XB_POLICY_ALLOW_ONLY] = {true, true, true},
	};

	for (uint32_t from = 0; from < 3; from++) {
		for (uint32_t to = 0; to < 3; to++) {
			struct xb_meta before;
			struct xb_txn *txn = writes(&before);

			before.policy = from;
			txn->meta.policy = to;
			if (is_relief(txn, &before) != relief[from][to])
				fail_msg("from %u to %u", from, to);
		}
	}
}

static bool resized(uint64_t from, uint64_t to, double from_rate, double to_rate)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	before.capacity = from;
	before.rate = from_rate;
	txn->meta.capacity = to;
	txn->meta.rate = to_rate;
	return is_relief(txn, &before);
}

TEST(sizes)
{
	struct xb_meta defaults = {0};

	assert_true(resized(100, 100, 0, 0));
	assert_true(resized(100, 99, 0, 0));
	assert_true(resized(100, 0, 0, 0));
	assert_false(resized(100, 101, 0, 0));
	assert_false(resized(0, 1, 0, 0));
	assert_false(resized(0, UINT64_MAX, 0, 0));
	assert_true(resized(UINT64_MAX, 1, 0, 0));
	assert_true(resized(0, 0, 1e-6, 1e-6));
	assert_true(resized(0, 0, 1e-6, 1e-5));
	assert_false(resized(0, 0, 1e-6, 1e-7));
	/* 0 is the default. */
	assert_true(resized(0, 0, 0, xb_meta_rate(&defaults)));
	assert_true(resized(0, 0, xb_meta_rate(&defaults), 0));
	assert_false(resized(0, 0, 0, xb_meta_rate(&defaults) / 2));
	assert_true(resized(0, 0, xb_meta_rate(&defaults) / 2, 0));
}

/* Other settings take another filter, whichever way they go. */
TEST(other_settings)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	assert_true(is_relief(txn, &before));
	txn = writes(&before);
	txn->meta.unconfirmed = !before.unconfirmed;
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	txn->meta.answer_limit = before.answer_limit - 1;
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	txn->meta.ports.http[XB_NAME_PORTS - 1] ^= 1;
	assert_false(is_relief(txn, &before));
	/* What is remembered, and what no filter has, is none. */
	txn = writes(&before);
	txn->meta.refused = ~before.refused;
	txn->meta.sequence += 5;
	assert_true(is_relief(txn, &before));
}

static void take_out(struct xb_txn *txn, const char *text, bool allow)
{
	uint8_t form[XB_NAME_BYTES];
	enum xb_removal removal;
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	if (allow)
		entry = xb_entry_allow(&entry);
	assert_int_equal(xb_member_remove(txn, &entry, XB_ANY_LIST, &removal), 0);
	assert_int_equal(removal, XB_REMOVAL_UNLISTED);
}

static void put_allowed(struct xb_txn *txn, const char *text)
{
	struct xb_membership member = {.added = 1};
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	entry = xb_entry_allow(&entry);
	assert_int_equal(xb_list_need(txn, XB_LIST_ALLOW, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
}

TEST(what_is_listed_and_allowed)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	put(txn, "192.0.2.1", "some");
	put_allowed(txn, "203.0.113.1");
	assert_int_equal(xb_txn_commit(txn), 0);

	txn = writes(&before);
	put(txn, "192.0.2.1", "another"); /* is listed already */
	assert_true(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "192.0.2.2", "some");
	assert_false(is_relief(txn, &before));
	/* That it goes again does not tell that nothing came. */
	txn = writes(&before);
	put(txn, "192.0.2.2", "some");
	take_out(txn, "192.0.2.2", false);
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	take_out(txn, "192.0.2.1", false);
	put_allowed(txn, "203.0.113.2");
	assert_true(is_relief(txn, &before));
	/* A sweep or a survey may do this within any change. */
	txn = writes(&before);
	take_out(txn, "203.0.113.1", true);
	assert_true(is_relief(txn, &before));
}

/* Too many changes to be kept one by one. */
TEST(in_bulk)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	xb_changes_set_bulk(&txn->change);
	assert_true(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "192.0.2.2", "some");
	xb_changes_set_bulk(&txn->change);
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	xb_changes_set_bulk(&txn->change);
	put(txn, "192.0.2.2", "some");
	assert_false(is_relief(txn, &before));
}

EACH_TEST(begin, end);
