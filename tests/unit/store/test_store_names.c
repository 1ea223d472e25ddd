/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domains in the store: order, walks on both sides, verdicts, the change log; and stores of
 * versions that knew no domains. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/changelog.h"
#include "store/checksum.h"
#include "store/flush.h"
#include "store/listverdict.h"
#include "store/walk.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/scratch_store.h"

static enum xb_put put(struct xb_txn *txn, const char *text, const char *name)
{
	struct xb_entry entry = entry_of(text);
	struct xb_membership member = {.added = 1};
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
	return result;
}

static void take(struct xb_txn *txn, const char *text, const char *name)
{
	struct xb_entry entry = entry_of(text);
	enum xb_removal removal;
	uint32_t list = name ? xb_list_find(txn, name)->id : XB_ANY_LIST;

	assert_int_equal(xb_member_remove(txn, &entry, list, &removal), 0);
	assert_int_not_equal(removal, XB_REMOVAL_ABSENT);
}

static void set_verdict(struct xb_txn *txn, const char *name, enum xb_domain_verdict verdict)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	list->verdict = verdict;
}

static void check_walk(struct xb_txn *txn, const struct xb_entry *from, const char *expected)
{
	char found[1024] = "", text[XB_ENTRY_TEXT];
	struct xb_walk walk;
	int more;

	assert_int_equal(xb_walk_begin(&walk, txn, from), 0);
	while ((more = xb_walk_next(&walk)) > 0) {
		strcat(found, xb_entry_format(&walk.entry, text));
		strcat(found, " ");
	}
	assert_int_equal(more, 0);
	xb_walk_end(&walk);
	assert_string_equal(found, expected);
}

#define LISTED_IN_ORDER                                                                            \
	"10.0.0.0/8 192.0.2.1 2001:db8::1 com =com example.com =example.com www.example.com "      \
	"example-2.com "
#define ALLOWED_IN_ORDER "192.0.2.0/24 2001:db8::/32 good.example.com "

static void put_all(struct xb_txn *txn)
{
	static const char *const all[] = {
		"www.example.com",
		"!2001:db8::/32",
		"=com",
		"192.0.2.1",
		"example-2.com",
		"2001:db8::1",
		"=example.com",
		"!good.example.com",
		"10.0.0.0/8",
		"com",
		"!192.0.2.0/24",
		"example.com",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(put(txn, all[i], "a"), XB_PUT_LISTED);
}

/* Kinds of both sides stand between each other in the store. */
TEST(walks_stay_on_their_side)
{
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	put_all(txn);
	check_walk(txn, &XB_WALK_LISTED, LISTED_IN_ORDER);
	check_walk(txn, &XB_WALK_ALLOW, ALLOWED_IN_ORDER);
	assert_int_equal(txn->meta.totals.names, 6);
	assert_int_equal(txn->meta.totals.allow, 3);
	take(txn, "!2001:db8::/32", NULL);
	take(txn, "!192.0.2.0/24", NULL);
	check_walk(txn, &XB_WALK_ALLOW, "good.example.com ");
	assert_int_equal(xb_flush_listed(txn), 0);
	check_walk(txn, &XB_WALK_LISTED, "");
	check_walk(txn, &XB_WALK_ALLOW, "good.example.com ");
	assert_int_equal(txn->meta.totals.names, 0);
	assert_int_equal(txn->meta.totals.allow, 1);
	xb_txn_abort(txn);
}

TEST(what_covers_a_domain)
{
	struct xb_entry entry, covering;
	char text[XB_ENTRY_TEXT];
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	put_all(txn);
	entry = entry_of("a.www.example.com");
	assert_int_equal(xb_member_covered(txn, &entry, &covering), 1);
	assert_string_equal(xb_entry_format(&covering, text), "www.example.com");
	entry = entry_of("=example.com");
	assert_int_equal(xb_member_covered(txn, &entry, &covering), 1);
	assert_string_equal(xb_entry_format(&covering, text), "example.com");
	entry = entry_of("aexample.org");
	assert_int_equal(xb_member_covered(txn, &entry, &covering), 0);
	xb_txn_abort(txn);
}

static enum xb_domain_verdict verdict_of(struct xb_txn *txn, const char *text)
{
	struct xb_entry entry = entry_of(text);
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	return xb_members_verdict(txn, members);
}

/* The strictest of its lists; that it changed is in the log, also when the entry stays listed. */
TEST(verdicts)
{
	static const enum xb_what expected[] = {XB_LISTED, XB_ALTERED, XB_ALTERED, XB_ALTERED,
						XB_GONE,   XB_LISTED,  XB_GONE};
	struct xb_changes changes;
	struct xb_step step;
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	set_verdict(txn, "count", XB_DOMAIN_COUNT);
	set_verdict(txn, "nx", XB_DOMAIN_NXDOMAIN);
	put(txn, "example.com", "count");
	assert_int_equal(verdict_of(txn, "example.com"), XB_DOMAIN_COUNT);
	put(txn, "example.com", "nx");
	assert_int_equal(verdict_of(txn, "example.com"), XB_DOMAIN_NXDOMAIN);
	put(txn, "example.com", "drop");
	assert_int_equal(verdict_of(txn, "example.com"), XB_DOMAIN_DROP);
	take(txn, "example.com", "drop");
	assert_int_equal(verdict_of(txn, "example.com"), XB_DOMAIN_NXDOMAIN);
	take(txn, "example.com", NULL);
	put(txn, "192.0.2.1", "count");
	put(txn, "192.0.2.1", "nx");
	take(txn, "192.0.2.1", NULL);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_int_equal(changes.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < changes.count; i++)
		assert_int_equal(changes.change[i].what, expected[i]);
	xb_changes_free(&changes);
	xb_txn_abort(txn);
}

/* Names do not say where they end; in the log they stand between others that do. */
TEST(the_log_keeps_names_apart)
{
	static const char *const all[] = {"example.com",   "192.0.2.1", "=a.b.c.example.org",
					  "2001:db8::/32", "x.org",	"!good.example.com"};
	struct xb_changes changes;
	struct xb_step step;
	char text[XB_ENTRY_TEXT];
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		put(txn, all[i], "a");
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_int_equal(changes.count, sizeof(all) / sizeof(all[0]));
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_entry *entry = &changes.change[i].entry;

		assert_string_equal(xb_entry_format(entry, text), all[i] + (*all[i] == '!'));
		assert_int_equal(xb_entry_is_allow(entry), *all[i] == '!');
	}
	xb_changes_free(&changes);
	xb_txn_abort(txn);
}

/* The first of two that are the same stays the first. */
TEST(sorting)
{
	static const char *const texts[] = {"b.example.com", "192.0.2.2", "example.com", "a.org",
					    "example.com",   "192.0.2.1", "=example.com"};
	static const char *const sorted[] = {"192.0.2.1",   "192.0.2.2",    "example.com",
					     "example.com", "=example.com", "b.example.com",
					     "a.org"};
	enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
	struct record {
		struct xb_entry entry;
		size_t number;
	} *records = calloc(COUNT, sizeof(*records));
	static uint8_t forms[COUNT][XB_NAME_BYTES];
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(xb_entry_parse(texts[i], strlen(texts[i]), forms[i],
						&records[i].entry, NULL),
				 0);
		records[i].number = i;
	}
	assert_int_equal(xb_entry_sort(&records, COUNT, sizeof(*records)), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_string_equal(xb_entry_format(&records[i].entry, text), sorted[i]);
	assert_true(records[2].number < records[3].number);
	free(records);
}

static void put_raw(struct xb_meta *meta, size_t size)
{
	MDB_val key = {4, "meta"}, value = {size, meta};
	MDB_txn *txn;

	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_put(txn, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
}

/* A number of a schema whose records were shorter does not make up for a false checksum. */
TEST(one_flipped_schema)
{
	struct xb_meta meta;
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	put(txn, "example.com", "a");
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	meta = txn->meta;
	xb_txn_abort(txn);
	meta.transaction++; /* put_raw() is one */
	xb_meta_checksum(&meta);
	put_raw(&meta, sizeof(meta));
	assert_int_equal(xb_store_read(store, &txn), 0);
	xb_txn_abort(txn);
	for (uint32_t schema = 0; schema < XB_SCHEMA; schema++) {
		struct xb_meta flipped = meta;

		flipped.schema = schema;
		flipped.transaction = ++meta.transaction;
		put_raw(&flipped, sizeof(flipped));
		assert_true(xb_store_read(store, &txn) < 0);
		assert_non_null(strstr(xb_error_message(), "the store file is damaged"));
	}
}

EACH_TEST(begin, end);
