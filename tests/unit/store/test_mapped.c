/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries in the form ::ffff:192.0.2.1 in a store of schema 6: what becomes of them, of what stands
 * beside them, and what the change log says of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/changelog.h"
#include "store/checksum.h"
#include "store/expiry.h"
#include "store/mapped.h"
#include "support/scratch_store.h"

static struct xb_entry parsed(const char *text)
{
	bool allow = *text == '!';
	struct xb_entry entry;

	text += allow;
	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	return allow ? xb_entry_allow(&entry) : entry;
}

/* The IPv4 entry as earlier versions kept ::ffff:a.b.c.d/96 and longer. '!' in front: allowed. */
static struct xb_entry mapped(const char *text)
{
	struct xb_entry entry = parsed(text);

	return (struct xb_entry){.lo = 0xffffULL << 32 | xb_entry_ipv4(&entry),
				 .length = (uint8_t)(96 + entry.length),
				 .kind = *text == '!' ? XB_ALLOW6 : XB_NET6};
}

static struct xb_list *list_of(struct xb_txn *txn, const char *name)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	return list;
}

static void list(struct xb_txn *txn, struct xb_entry entry, const char *name, uint32_t expires,
		 const char *comment)
{
	struct xb_membership member = {.list = list_of(txn, name)->id,
				       .added = 1,
				       .expires = expires,
				       .comment = comment,
				       .comment_size = (uint32_t)strlen(comment)};
	enum xb_put put;

	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &put), 0);
	assert_int_not_equal(put, XB_PUT_SAME);
}

static void assert_listed(struct xb_txn *txn, const char *text, const char *name, uint32_t expires,
			  const char *comment)
{
	struct xb_entry entry = parsed(text);
	struct xb_membership member;
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	assert_true(xb_members_have(members, list_of(txn, name)->id, &member));
	assert_int_equal(member.expires, expires);
	assert_int_equal(member.comment_size, strlen(comment));
	assert_memory_equal(member.comment, comment, member.comment_size);
}

static void assert_gone(struct xb_txn *txn, struct xb_entry entry)
{
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), -ENOENT);
}

/* Ends the transaction as one of schema 6 did. */
static void commit_as_schema_6(struct xb_txn *txn)
{
	MDB_val key = {4, "meta"}, value = {XB_META_WITHOUT_LIMIT, NULL};
	struct xb_meta old;
	MDB_txn *raw;

	assert_int_equal(xb_changelog_append(txn, true), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	old = txn->meta;
	xb_txn_abort(txn);
	old.schema = 6;
	old.transaction++;
	old.checksum = 0;
	old.checksum = xb_checksum(NULL, 0, &old, XB_META_WITHOUT_LIMIT);
	value.mv_data = &old;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &raw), 0);
	assert_int_equal(mdb_put(raw, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(raw), 0);
}

static bool any(void)
{
	struct xb_txn *txn;
	bool found;

	assert_int_equal(xb_store_read(store, &txn), 0);
	found = xb_mapped_any(txn);
	xb_txn_abort(txn);
	return found;
}

/* Moves them, and commits that as its caller does. */
static struct xb_mapped move(void)
{
	struct xb_mapped result = {0};
	struct xb_txn *txn;

	assert_true(any());
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_mapped_move(txn, &result), 0);
	assert_int_equal(xb_changes_settle(&txn->change), 0);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_false(any());
	return result;
}

static void memberships(void **state)
{
	struct xb_mapped result;
	struct xb_txn *txn;
	uint64_t due;

	(void)state;
	assert_int_equal(xb_store_write(store, &txn), 0);
	list(txn, mapped("192.0.2.1"), "a", 5000, "mapped");
	list(txn, mapped("192.0.2.1"), "b", 0, "of b");
	list(txn, parsed("192.0.2.1"), "a", 4000, "");
	list(txn, parsed("192.0.2.1"), "c", 6000, "own");
	list(txn, mapped("192.0.2.3"), "a", 4000, "mapped");
	list(txn, parsed("192.0.2.3"), "a", 6000, "own");
	list(txn, mapped("198.51.100.0/24"), "a", 3000, "net");
	list(txn, parsed("198.51.100.0/24"), "a", 0, "own");
	list(txn, mapped("203.0.113.0/25"), "a", 0, "");
	list(txn, parsed("203.0.113.0/25"), "a", 3000, "");
	list(txn, mapped("!192.0.2.2"), "a", 7000, "allowed");
	list(txn, parsed("2001:db8::/32"), "a", 0, "");
	list(txn, parsed("::fffe:ffff:ffff"), "a", 0, "");
	list(txn, parsed("::1:0:0:0"), "a", 0, "");
	commit_as_schema_6(txn);

	result = move();
	assert_int_equal(result.moved, 5);
	assert_int_equal(result.left_out, 0);

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_listed(txn, "192.0.2.1", "a", 5000, "mapped");
	assert_listed(txn, "192.0.2.1", "b", 0, "of b");
	assert_listed(txn, "192.0.2.1", "c", 6000, "own");
	assert_listed(txn, "192.0.2.3", "a", 6000, "own");
	assert_listed(txn, "198.51.100.0/24", "a", 0, "own");
	assert_listed(txn, "203.0.113.0/25", "a", 0, "");
	assert_listed(txn, "!192.0.2.2", "a", 7000, "allowed");
	assert_gone(txn, mapped("192.0.2.1"));
	assert_gone(txn, mapped("!192.0.2.2"));
	assert_int_equal(txn->meta.totals.net6, 3);
	assert_int_equal(txn->meta.totals.host4, 3);
	assert_int_equal(txn->meta.totals.host4_keys, 2 + 128);
	assert_int_equal(txn->meta.totals.prefix4, 1);
	assert_int_equal(txn->meta.totals.allow, 1);
	assert_int_equal(list_of(txn, "a")->members, 8);
	assert_int_equal(list_of(txn, "b")->members, 1);
	/* The index of what expires has what came, and nothing that went. */
	assert_int_equal(xb_expiry_sweep(txn, 8000, &due), 0);
	assert_int_equal(due, 4);
	xb_txn_abort(txn);
}

/* It is a deletion and an addition, but of what was there anyway only a deletion. */
static void log_of_it(void **state)
{
	struct xb_entry plain = parsed("192.0.2.1"), form = mapped("192.0.2.1"),
			twice = mapped("192.0.2.2");
	struct xb_changes changes;
	struct xb_step step;
	struct xb_txn *txn;
	uint64_t before;

	(void)state;
	assert_int_equal(xb_store_write(store, &txn), 0);
	list(txn, form, "a", 0, "");
	list(txn, twice, "a", 0, "");
	list(txn, parsed("192.0.2.2"), "b", 0, "");
	before = txn->meta.sequence + 1;
	commit_as_schema_6(txn);
	move();
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(txn->meta.sequence, before + 1);
	assert_int_equal(xb_changelog_read(txn, before + 1, &step, &changes), 0);
	assert_true(step.to == txn->meta.mark && step.from != step.to);
	assert_true(changes.tightens);
	assert_int_equal(changes.count, 3);
	assert_int_equal(xb_entry_compare(&changes.change[0].entry, &plain), 0);
	assert_int_equal(changes.change[0].what, XB_LISTED);
	assert_int_equal(xb_entry_compare(&changes.change[1].entry, &form), 0);
	assert_int_equal(changes.change[1].what, XB_GONE);
	assert_int_equal(xb_entry_compare(&changes.change[2].entry, &twice), 0);
	assert_int_equal(changes.change[2].what, XB_GONE);
	xb_changes_free(&changes);
	xb_txn_abort(txn);
}

/* As IPv4 they would need --force, which nobody said. */
static void too_wide(void **state)
{
	struct xb_mapped result;
	struct xb_txn *txn;

	(void)state;
	assert_int_equal(xb_store_write(store, &txn), 0);
	list(txn, mapped("0.0.0.0/0"), "a", 0, "");
	list(txn, mapped("!10.0.0.0/7"), "a", 0, "");
	list(txn, mapped("10.0.0.0/8"), "a", 0, "");
	list(txn, parsed("128.0.0.0/1"), "a", 0, "meant");
	commit_as_schema_6(txn);
	result = move();
	assert_int_equal(result.moved, 1);
	assert_int_equal(result.left_out, 2);
	assert_int_equal(result.first.length, 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_listed(txn, "10.0.0.0/8", "a", 0, "");
	assert_listed(txn, "128.0.0.0/1", "a", 0, "meant");
	assert_gone(txn, parsed("0.0.0.0/0"));
	assert_gone(txn, parsed("!10.0.0.0/7"));
	assert_gone(txn, mapped("0.0.0.0/0"));
	assert_int_equal(txn->meta.totals.net6 + txn->meta.totals.allow, 0);
	assert_int_equal(txn->meta.totals.prefix4, 2);
	xb_txn_abort(txn);
}

static void none(void **state)
{
	struct xb_txn *txn;

	(void)state;
	assert_int_equal(xb_store_write(store, &txn), 0);
	list(txn, parsed("192.0.2.1"), "a", 0, "");
	list(txn, parsed("::fffe:ffff:ffff"), "a", 0, "");
	list(txn, parsed("::1:0:0:0"), "a", 0, "");
	list(txn, parsed("!2001:db8::1"), "a", 0, "");
	commit_as_schema_6(txn);
	assert_false(any());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memberships),
		TEST(log_of_it),
		TEST(too_wide),
		TEST(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
