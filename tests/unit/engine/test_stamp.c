/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark of a list goes with its next change, whoever makes it. */
#include <errno.h>
#include <string.h>

#include "engine/stamp.h"
#include "store/expiry.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/scratch_store.h"

#define NOW 1000

static struct xb_txn *txn;
static char stamp[XB_STAMP_TEXT];

static int begin_marked(void **state)
{
	*stamp = '\0';
	xb_store_keep(true);
	return begin(state);
}

static int end_marked(void **state)
{
	xb_store_keep(false);
	return end(state);
}

static void open_txn(void)
{
	assert_int_equal(xb_store_write(store, &txn), 0);
}

static void commit(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
}

static void put(const char *name, const char *text, uint32_t expires)
{
	struct xb_entry entry = entry_of(text);
	struct xb_membership member = {.added = NOW, .expires = expires, .comment = ""};
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, XB_RENEW_EXPIRY, &result), 0);
}

static void drop(const char *name, const char *text)
{
	struct xb_entry entry = entry_of(text);
	enum xb_removal removal;

	assert_int_equal(xb_member_remove(txn, &entry, xb_list_find(txn, name)->id, &removal), 0);
}

static void mark(void)
{
	open_txn();
	put("one", "9.9.9.9", 0);
	put("one", "9.9.9.10", NOW + 10);
	assert_int_equal(xb_stamp_put(txn, "one", stamp), 0);
	commit();
	assert_true(xb_stamp_holds(directory, "one", stamp));
}

TEST(it_goes_with_each_change)
{
	mark();
	open_txn();
	put("one", "9.9.9.11", 0);
	commit();
	assert_false(xb_stamp_holds(directory, "one", stamp));
	mark();
	/* As many as before. */
	open_txn();
	drop("one", "9.9.9.9");
	put("one", "9.9.9.12", 0);
	commit();
	assert_false(xb_stamp_holds(directory, "one", stamp));
	mark();
	open_txn();
	assert_int_equal(xb_expiry_sweep(txn, NOW + 10, NULL), 0);
	commit();
	assert_false(xb_stamp_holds(directory, "one", stamp));
	mark();
	open_txn();
	put("one", "9.9.9.10", NOW + 5);
	commit();
	assert_false(xb_stamp_holds(directory, "one", stamp));
}

TEST(it_stays_without_one)
{
	char before[XB_STAMP_TEXT];

	mark();
	memcpy(before, stamp, sizeof(before));
	mark();
	assert_string_equal(stamp, before);
	open_txn();
	put("two", "9.9.9.9", 0);
	drop("one", "9.9.9.200");
	commit();
	assert_true(xb_stamp_holds(directory, "one", stamp));
	assert_false(xb_stamp_holds(directory, "two", stamp));
	/* What came and went again within a transaction has changed it. */
	open_txn();
	drop("one", "9.9.9.9");
	put("one", "9.9.9.9", 0);
	assert_int_equal(xb_stamp_put(txn, "one", stamp), 0);
	commit();
	assert_string_not_equal(stamp, before);
	assert_true(xb_stamp_holds(directory, "one", stamp));
	assert_false(xb_stamp_holds(directory, "one", before));
}

TEST(none_and_others)
{
	struct xb_imprint imprint = {.bytes = 5};

	assert_false(xb_stamp_holds(directory, "one", ""));
	assert_false(xb_stamp_holds("/nowhere", "one", ""));
	open_txn();
	put("one", "9.9.9.9", 0);
	commit();
	assert_false(xb_stamp_holds(directory, "one", ""));
	assert_false(xb_stamp_holds(directory, "one", "00000000000000000000000000000000"));
	/* The imprint of a file is no mark. */
	open_txn();
	xb_list_set_imprint(txn, xb_list_find(txn, "one"), &imprint);
	commit();
	assert_false(xb_stamp_holds(directory, "one", "00000000000000000000000000000000"));
}

EACH_TEST(begin_marked, end_marked);
