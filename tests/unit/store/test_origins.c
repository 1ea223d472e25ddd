/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The origins of lists: kept, gone with the last entry, from a fleet, damaged. */
#include <string.h>

#include "store/flush.h"
#include "store/origins.h"
#include "store/sealedrecord.h"
#include "support/cmocka.h"
#include "support/waiting.h"

#define IMPORT (1U << XB_ORIGIN_IMPORT)
#define FEED   (1U << XB_ORIGIN_FEED)
#define FLEET  (1U << XB_ORIGIN_FLEET)

static void assert_origins(const char *list, uint32_t origins)
{
	const struct xb_list *found = xb_list_by_name(txn, list);

	assert_int_equal(found ? xb_list_origins(found) : 0, origins);
}

static void list_from(const char *text, const char *list, enum xb_origin origin)
{
	list_entry(txn, text, list);
	xb_list_come_from(txn, list_of(txn, list), origin);
}

static void assert_record(bool expected)
{
	const void *record;
	size_t size;

	assert_int_equal(xb_sealed_find(txn, "origins", &record, &size), expected);
}

TEST(kept)
{
	uint64_t edits;

	list_from("192.0.2.1", "a", XB_ORIGIN_IMPORT);
	list_entry(txn, "192.0.2.1", "b");
	list_from("192.0.2.2", "c", XB_ORIGIN_FEED);
	for (int i = 0; i < 3; i++) {
		commit_and_go_on();
		assert_origins("a", IMPORT);
		assert_origins("b", 0);
		assert_origins("c", FEED);
		list_with(txn, "192.0.2.9", "b", 0, i ? "again" : NULL);
	}
	edits = txn->edits;
	xb_list_come_from(txn, list_of(txn, "a"), XB_ORIGIN_IMPORT);
	assert_true(txn->edits == edits);
	xb_list_come_from(txn, list_of(txn, "a"), XB_ORIGIN_FEED);
	assert_true(txn->edits > edits);
	commit_and_go_on();
	assert_origins("a", IMPORT | FEED);
	/* What is given up, is not there. */
	xb_list_come_from(txn, list_of(txn, "b"), XB_ORIGIN_FEED);
	xb_txn_abort(txn);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_origins("b", 0);
}

static void flush_one(const char *list)
{
	uint64_t count;

	assert_int_equal(xb_flush_list(txn, list_of(txn, list)->id, &count), 0);
}

TEST(gone_with_the_last_entry)
{
	list_from("192.0.2.1", "a", XB_ORIGIN_IMPORT);
	list_from("192.0.2.2", "a", XB_ORIGIN_IMPORT);
	list_from("192.0.2.3", "b", XB_ORIGIN_FEED);
	list_of(txn, "a")->verdict = XB_DOMAIN_NXDOMAIN;
	commit_and_go_on();
	unlist("192.0.2.1", "a");
	commit_and_go_on();
	assert_origins("a", IMPORT);
	unlist("192.0.2.2", "a");
	assert_origins("a", 0);
	commit_and_go_on();
	assert_origins("b", FEED);
	assert_record(true);
	/* The list was there all the while, since it has a verdict. */
	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	assert_origins("a", 0);
	flush_one("b");
	commit_and_go_on();
	assert_record(false);
	list_from("192.0.2.3", "b", XB_ORIGIN_FEED);
	commit_and_go_on();
	assert_int_equal(xb_flush_all(txn), 0);
	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	assert_origins("a", 0);
	assert_origins("b", 0);
	assert_record(false);
}

/* What other hosts list; what this one lists itself, comes back as it is. */
TEST(from_a_fleet)
{
	share("a", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	share("b", XB_SHARE_FOLLOW);
	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	xb_fleet_applies(txn, true);
	list_entry(txn, "192.0.2.1", "a");
	list_entry(txn, "example.com", "b");
	assert_origins("a", 0);
	assert_origins("b", 0);
	list_entry(txn, "192.0.2.2", "a");
	list_entry(txn, "2001:db8::1", "b");
	assert_origins("a", FLEET);
	assert_origins("b", FLEET);
	commit_and_go_on();
	assert_origins("a", FLEET);
	assert_origins("b", FLEET);
}

TEST(damage_is_noticed)
{
	static const size_t sizes[] = {4 + 7, 4 + 9, 4 + 12};
	uint32_t record[4] = {1, 1, 1, 0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(xb_sealed_put(txn, "origins", record, sizes[i]), 0);
		assert_int_equal(xb_txn_commit(txn), 0);
		assert_told(xb_store_read(store, &txn));
		assert_told(xb_store_write(store, &txn));
		/* As it was. */
		assert_int_equal(end(state), 0);
		assert_int_equal(begin_txn(state), 0);
	}
}

EACH_TEST(begin_txn, end_txn);
