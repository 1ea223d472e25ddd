/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes ask for less than there is. */

#include "engine/relief.h"
#include "support/cmocka.h"
#include "support/storechanges.h"
#include "support/scratch_txn.h"

TEST_WITH(what_is_listed_and_allowed, begin_txn, end_txn)
{
	static const struct {
		const char *changes;
		bool relief;
	} rows[] = {
		{"", true},
		/* A stricter verdict asks for more, whether a list gets it or a name by one more
		 * list. */
		{"lenient drop", false},
		{"lenient count", true},
		{"+example.com strict", false},
		{"+example.com counted", true},
		{"+192.0.2.1 another", true}, /* is listed already */
		{"+192.0.2.2 some", false},
		/* That it goes again does not tell that nothing came. */
		{"+192.0.2.2 some; -192.0.2.2", false},
		{"-192.0.2.1; +!203.0.113.2 allow", true},
		/* A sweep or a survey may do this within any change. */
		{"-!203.0.113.1", true},
	};
	struct xb_meta before;

	make_changes(txn, "+example.com lenient; lenient refused; +example.org strict; "
			  "+example.net counted; counted count; +192.0.2.1 some; "
			  "+!203.0.113.1 allow");
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		before = txn->meta;
		make_changes(txn, rows[i].changes);
		if (xb_relief_is(&before, txn) != rows[i].relief)
			fail_msg("%s", rows[i].changes);
		xb_txn_abort(txn);
		assert_int_equal(xb_store_write(store, &txn), 0);
	}
}

/* Too many changes to be kept one by one. */
TEST_WITH(in_bulk, begin_txn, end_txn)
{
	struct xb_meta before = txn->meta;

	xb_changes_set_bulk(&txn->change);
	assert_true(xb_relief_is(&before, txn));
	make_changes(txn, "+192.0.2.2 some");
	assert_false(xb_relief_is(&before, txn));
	xb_changes_set_bulk(&txn->change);
	assert_false(xb_relief_is(&before, txn));
}

static bool is_relief(struct xb_meta before, struct xb_meta after)
{
	const struct xb_txn changed = {.meta = after};

	return xb_relief_is(&before, &changed);
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
			struct xb_meta before = {.policy = from}, after = {.policy = to};

			if (is_relief(before, after) != relief[from][to])
				fail_msg("from %u to %u", from, to);
		}
	}
}

TEST(sizes)
{
	static const struct {
		struct xb_meta before, after;
		bool relief;
	} rows[] = {
		{{.capacity = 100}, {.capacity = 100}, true},
		{{.capacity = 100}, {.capacity = 99}, true},
		{{.capacity = 100}, {.capacity = 0}, true},
		{{.capacity = 100}, {.capacity = 101}, false},
		{{.capacity = 0}, {.capacity = 1}, false},
		{{.capacity = 0}, {.capacity = UINT64_MAX}, false},
		{{.capacity = UINT64_MAX}, {.capacity = 1}, true},
		{{.rate = 1e-6}, {.rate = 1e-6}, true},
		{{.rate = 1e-6}, {.rate = 1e-5}, true},
		{{.rate = 1e-6}, {.rate = 1e-7}, false},
		/* 0 is the default. */
		{{.rate = 0}, {.rate = XB_CONFIRMED_RATE}, true},
		{{.rate = XB_CONFIRMED_RATE}, {.rate = 0}, true},
		{{.rate = 0}, {.rate = XB_CONFIRMED_RATE / 2}, false},
		{{.rate = XB_CONFIRMED_RATE / 2}, {.rate = 0}, true},
		/* Other settings take another filter, whichever way they go. */
		{{.unconfirmed = 0}, {.unconfirmed = 1}, false},
		{{.unconfirmed = 1}, {.unconfirmed = 0}, false},
		{{.answer_limit = 5}, {.answer_limit = 4}, false},
		{{.ports = {.http = {0, 0, 0, 0}}}, {.ports = {.http = {0, 0, 0, 1}}}, false},
		/* What is remembered, and what no filter has, is none. */
		{{.refused = 0}, {.refused = ~0U, .sequence = 5}, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_relief(rows[i].before, rows[i].after) != rows[i].relief)
			fail_msg("row %zu", i);
}
