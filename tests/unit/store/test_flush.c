/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking out all, all that is listed, one list; and the verdict of a list: what is left, and what
 * the changes of the transaction say. */
#include "store/flush.h"
#include "store/listverdict.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static void fill(void)
{
	change_lists(txn,
		     "192.0.2.0/24 a (net); 192.0.2.1 a b; 2001:db8::/32 a until 500; a.example a "
		     "b; !192.0.2.9 a until 700 (ours) allow; !b.example auto:ssh (host); "
		     "!2001:db8::1 allow");
	commit_and_go_on();
}

/* "PREFIX4 HOST4 NET6 NAMES ALLOW, COUNT expire, LIST MEMBERS ...": of all that exist. */
static void assert_counts(const char *expected)
{
	const struct xb_totals *totals = &txn->meta.totals;
	struct listed_text out = {0};
	MDB_stat expiring;
	char line[128];

	assert_int_equal(mdb_stat(txn->txn, store->expiry, &expiring), 0);
	assert_int_equal(totals->host4_keys, totals->host4);
	snprintf(line, sizeof(line), "%u %u %u %u %u, %u expire,", (unsigned int)totals->prefix4,
		 (unsigned int)totals->host4, (unsigned int)totals->net6,
		 (unsigned int)totals->names, (unsigned int)totals->allow,
		 (unsigned int)expiring.ms_entries);
	add_text(&out, "%s", line);
	for (size_t i = 0; i < txn->list_count; i++) {
		const struct xb_list *list = xb_list_find(txn, txn->lists[i].name);

		if (!list)
			continue;
		snprintf(line, sizeof(line), " %s %u", list->name, (unsigned int)list->members);
		add_text(&out, "%s", line);
	}
	assert_string_equal(out.text, expected);
}

#define ALLOWED                                                                                    \
	"!192.0.2.9 a until 700 (ours) allow; !2001:db8::1 allow; !b.example auto:ssh (host)"

TEST(all_goes)
{
	fill();
	list_of(txn, "b")->verdict = XB_DOMAIN_NXDOMAIN;
	assert_counts("1 1 1 1 3, 2 expire, a 5 allow 2 auto:ssh 1 b 2");
	assert_int_equal(xb_flush_all(txn), 0);
	for (int opened = 0; opened < 2; opened++) {
		assert_store(txn, "");
		assert_counts("0 0 0 0 0, 0 expire, b 0"); /* for its verdict */
		assert_int_equal(txn->change.bulk, !opened);
		commit_and_go_on();
	}
	assert_int_equal(xb_flush_all(txn), 0);
	list_entry(txn, "192.0.2.1", "a");
	assert_store(txn, "192.0.2.1 a");
}

/* With all its lists, times and comments. */
TEST(the_allowlist_stays)
{
	fill();
	list_entry(txn, "192.0.2.7", "b"); /* a change that is still in memory */
	assert_int_equal(xb_flush_listed(txn), 0);
	for (int opened = 0; opened < 2; opened++) {
		assert_store(txn, ALLOWED);
		assert_counts("0 0 0 0 3, 1 expire, a 1 allow 2 auto:ssh 1");
		assert_int_equal(txn->change.bulk, !opened);
		commit_and_go_on();
	}
}

TEST(nothing_to_flush)
{
	uint64_t count = 1;

	assert_int_equal(xb_flush_listed(txn), 0);
	assert_int_equal(xb_flush_list(txn, XB_NO_LIST, &count), 0);
	assert_int_equal(count, 0);
	assert_store(txn, "");
}

TEST(one_list)
{
	uint64_t count;

	fill();
	assert_int_equal(xb_flush_list(txn, list_of(txn, "a")->id, &count), 0);
	assert_int_equal(count, 4);
	assert_store(txn, "192.0.2.1 b; a.example b; " ALLOWED);
	assert_counts("0 1 0 1 3, 1 expire, a 1 allow 2 auto:ssh 1 b 2");
	/* two went, and the lists of a domain changed */
	assert_false(txn->change.bulk || txn->change.tightens);
	assert_int_equal(txn->change.count, 3);
	assert_int_equal(txn->change.change[0].what, XB_GONE);
	assert_int_equal(txn->change.change[1].what, XB_GONE);
	assert_int_equal(txn->change.change[2].what, XB_ALTERED);
	assert_int_equal(xb_flush_list(txn, list_of(txn, "a")->id, &count), 0);
	assert_int_equal(count, 0);
}

static void assert_verdict(const char *list, uint32_t verdict, bool bulk, bool tightens)
{
	uint64_t edits = txn->edits;
	bool changes = list_of(txn, list)->verdict != verdict;

	xb_changes_free(&txn->change);
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, list), verdict), 0);
	assert_int_equal(list_of(txn, list)->verdict, verdict);
	assert_int_equal(txn->change.bulk, bulk);
	assert_int_equal(txn->change.tightens, tightens);
	assert_int_equal(txn->edits > edits, changes);
}

TEST(a_verdict_concerns_names)
{
	change_lists(txn, "192.0.2.1 a; !a.example a; b.example b");
	assert_verdict("a", XB_DOMAIN_DROP, false, false);
	assert_verdict("a", XB_DOMAIN_REFUSED, false, false);
	assert_verdict("a", XB_DOMAIN_NXDOMAIN, false, false);
	assert_verdict("a", XB_DOMAIN_COUNT, true, false);
	assert_verdict("a", XB_DOMAIN_NXDOMAIN, true, true);
	assert_verdict("b", XB_DOMAIN_DROP, false, false);
	assert_verdict("b", XB_DOMAIN_COUNT, true, false);
	assert_verdict("b", XB_DOMAIN_COUNT, false, false);
	assert_verdict("b", XB_DOMAIN_NXDOMAIN, true, true);
	assert_verdict("b", XB_DOMAIN_DROP, true, true);
}

EACH_TEST(begin_txn, end_txn);
