/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of wanted interfaces: names up to the longest, modes, order, damage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/home.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static void want(const char *name, enum xb_mode mode)
{
	struct xb_wanted wanted = {.mode = mode};

	assert_true(strlen(name) < sizeof(wanted.name));
	memcpy(wanted.name, name, strlen(name));
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
}

/* "NAME MODE, ..." */
static void assert_wanted(const char *expected)
{
	struct listed_text found = {0};
	struct xb_wanted *all;
	size_t count;

	assert_int_equal(xb_wanted_all(txn, &all, &count), 0);
	for (size_t i = 0; i < count; i++) {
		add_text(&found, i ? ", %s" : "%s", all[i].name);
		add_text(&found, " %s", xb_mode_name(all[i].mode));
	}
	assert_string_equal(found.text, expected);
	free(all);
}

static void assert_has(const char *name, bool expected)
{
	bool found = !expected;

	assert_int_equal(xb_wanted_has(txn, name, &found), 0);
	assert_int_equal(found, expected);
}

TEST(put_and_removed)
{
	uint64_t edits;
	bool found;

	assert_wanted("");
	assert_has("eth0", false);
	want("eth1", XB_MODE_SKB);
	want("eth0", XB_MODE_AUTO);
	want("a-name-of-15-ch", XB_MODE_NATIVE);
	want("e", XB_MODE_AUTO);
	assert_has("eth0", true);
	assert_has("eth", false);
	assert_has("eth00", false);
	assert_has("a-name-of-15-ch", true);
	assert_has("a-name-of-15-chars", false);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_wanted("a-name-of-15-ch native, e auto, eth0 auto, eth1 skb");
	want("eth0", XB_MODE_NATIVE);
	assert_wanted("a-name-of-15-ch native, e auto, eth0 native, eth1 skb");
	assert_int_equal(xb_wanted_remove(txn, "eth0", &found), 0);
	assert_true(found);
	edits = txn->edits;
	assert_int_equal(xb_wanted_remove(txn, "eth0", &found), 0);
	assert_false(found);
	assert_int_equal(txn->edits, edits);
	assert_wanted("a-name-of-15-ch native, e auto, eth1 skb");
}

/* A commit has them to keep, and the home is where they are wanted. */
TEST(a_wish_is_an_edit)
{
	struct xb_home home;
	uint64_t edits = txn->edits;
	bool found;

	assert_int_equal(xb_home_get(txn, &home), 0);
	assert_false(home.known);
	want("eth0", XB_MODE_AUTO);
	assert_true(txn->edits > edits);
	assert_int_equal(xb_home_get(txn, &home), 0);
	assert_int_equal(xb_home_place(&home), XB_PLACE_HOME);
	edits = txn->edits;
	assert_int_equal(xb_wanted_remove(txn, "eth0", &found), 0);
	assert_true(found && txn->edits > edits);
}

static void put_raw(const char *name, const void *bytes, size_t size)
{
	MDB_val key = {strlen(name), (void *)(uintptr_t)name},
		value = {size, (void *)(uintptr_t)bytes};

	assert_int_equal(mdb_put(txn->txn, store->ifaces, &key, &value, 0), 0);
}

static void assert_refused(void)
{
	struct xb_wanted *all = NULL;
	size_t count;

	assert_told(xb_wanted_all(txn, &all, &count));
	assert_null(all);
}

TEST(a_mode_to_come_is_any)
{
	const uint32_t mode = XB_MODE_SKB + 1;

	put_raw("eth0", &mode, sizeof(mode));
	assert_wanted("eth0 auto");
}

TEST(a_short_mode_is_damage)
{
	want("eth0", XB_MODE_AUTO);
	put_raw("eth1", "123", 3);
	assert_refused();
}

TEST(a_long_mode_is_damage)
{
	put_raw("eth1", "12345", 5);
	assert_refused();
}

TEST(a_long_name_is_damage)
{
	put_raw("a-name-of-16-cha", "\0\0\0", 4);
	assert_refused();
}

EACH_TEST(begin_txn, end_txn);
