/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which networks many entries of a list are in, and what listing them changes. */
#include <string.h>

#include "base/error.h"
#include "engine/aggregate.h"
#include "model/policy.h"
#include "store/origins.h"
#include "support/cmocka.h"
#include "support/storechanges.h"
#include "support/writer.h"

/* What there was, what is found for the list `a` ("PREFIX ENTRIES; ..."), and what there is after
 * it was added. */
static const struct row {
	const char *before;
	struct xb_aggregate_terms terms;
	const char *found, *after;
} rows[] = {
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.3 b; +192.0.3.1 a",
	 {NULL, NULL, 3, 24, 64, 0},
	 "",
	 NULL},
	{"+192.0.2.1 a; +192.0.2.255 a; +192.0.3.1 a; +192.0.1.9 a",
	 {NULL, NULL, 2, 24, 64, 60},
	 "192.0.2.0/24 2",
	 "192.0.2.0/24 a until 1060 (aggregate of 2 entries); 192.0.1.9 a; 192.0.2.1 a; "
	 "192.0.2.255 a; 192.0.3.1 a"},
	/* What is longer counts as one, whatever its length; what is as long or wider does not. */
	{"+192.0.2.0/28 a; +192.0.2.1 a; +198.51.100.0/24 a; +198.51.0.0/16 a",
	 {NULL, NULL, 2, 24, 64, 0},
	 "192.0.2.0/24 2",
	 NULL},
	{"+2001:db8::1 a; +2001:db8::2 a; +2001:db8:0:1::1 a; +2001:db8:0:1:: a; "
	 "+2001:db8:0:2::/64 a",
	 {NULL, NULL, 2, 24, 64, 0},
	 "2001:db8::/64 2; 2001:db8:0:1::/64 2",
	 NULL},
	{"+2001:db8::/64 a; +2001:db8:0:1::/64 a; +192.0.2.1 a; +192.0.2.2 a",
	 {NULL, NULL, 2, 0, 48, 0},
	 "2001:db8::/48 2",
	 NULL},
	/* Hosts, and prefixes up to /24, stand in two places of the store. */
	{"+192.0.2.0/24 a; +192.0.4.0/24 a; +192.0.255.1 a; +192.1.0.1 a; +192.3.0.0/24 a; "
	 "+192.1.0.2 a",
	 {NULL, NULL, 2, 16, 64, 0},
	 "192.0.0.0/16 3; 192.1.0.0/16 2",
	 NULL},
	/* Already listed by this list, for long enough or not. */
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 a", {NULL, NULL, 2, 24, 64, 60}, "", NULL},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.0.0/16 a", {NULL, NULL, 2, 24, 64, 60}, "", NULL},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 a 1060", {NULL, NULL, 2, 24, 64, 60}, "", NULL},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 a 1060", {NULL, NULL, 2, 24, 64, 0}, "", NULL},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 a 1059",
	 {NULL, NULL, 2, 24, 64, 60},
	 "192.0.2.0/24 2",
	 "192.0.2.0/24 a until 1060 (aggregate of 2 entries); 192.0.2.1 a; 192.0.2.2 a"},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 b",
	 {NULL, NULL, 2, 24, 64, 60},
	 "192.0.2.0/24 2",
	 "192.0.2.0/24 b a until 1060 (aggregate of 2 entries); 192.0.2.1 a; 192.0.2.2 a"},
	/* For another list, which may be there or not. */
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 a",
	 {NULL, "new", 2, 24, 64, 60},
	 "192.0.2.0/24 2",
	 "192.0.2.0/24 a new until 1060 (aggregate of 2 entries); 192.0.2.1 a; 192.0.2.2 a"},
	{"+192.0.2.1 a; +192.0.2.2 a; +192.0.2.0/24 b", {NULL, "b", 2, 24, 64, 60}, "", NULL},
	/* Names, and the allowlist, are no hosts of the list. */
	{"+a.example.com a; +b.example.com a; +!192.0.2.1 a; +!192.0.2.2 a",
	 {NULL, NULL, 2, 24, 64, 0},
	 "",
	 NULL},
};

static void say_found(const struct xb_aggregates *found, struct listed_text *said)
{
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < found->count; i++) {
		add_text(said, "%s", said->used ? "; " : "");
		add_text(said, "%s ", xb_entry_format(&found->item[i].prefix, text));
		snprintf(text, sizeof(text), "%llu", (unsigned long long)found->item[i].entries);
		add_text(said, "%s", text);
	}
}

static void take_row(const struct row *row)
{
	struct xb_aggregate_terms terms = row->terms;
	struct xb_edit_result result = {0};
	struct xb_aggregates found = {0};
	struct xb_edit_refusal refusal;
	struct listed_text said = {0};

	terms.list = "a";
	terms.into = terms.into ? terms.into : "a";
	make_changes(txn, row->before);
	/* The second time finds the same. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), 0);
	say_found(&found, &said);
	if (strcmp(said.text, row->found) != 0)
		fail_msg("%s: '%s', not '%s'", row->before, said.text, row->found);
	if (row->after) {
		assert_int_equal(xb_aggregates_add(&writer, &terms, &found, &result, &refusal), 0);
		assert_int_equal(result.added + result.renewed, found.count);
		assert_store(txn, row->after);
		assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), 0);
		assert_int_equal(found.count, 0);
	}
	xb_edit_result_free(&result);
	xb_aggregates_free(&found);
}

TEST_WITH(networks, begin_writer, end_txn)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		take_row(&rows[i]);
		xb_txn_abort(txn);
		assert_int_equal(open_txn(), 0);
	}
}

TEST_WITH(no_list, begin_writer, end_txn)
{
	const struct xb_aggregate_terms terms = {"none", "none", 2, 24, 64, 0};
	struct xb_aggregates found = {0};

	assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), -ENOENT);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	xb_aggregates_free(&found);
}

/* As many as runs can be. */
TEST_WITH(many, begin_writer, end_txn)
{
	const struct xb_aggregate_terms terms = {"a", "a", 3, 24, 64, 0};
	struct xb_aggregates found = {0};
	char text[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "198.%d.%d.%d", 51 + i / 1000, i / 4 % 250, i % 4);
		put_entry(txn, text, "a", 0, NULL, 0);
	}
	assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), 0);
	assert_int_equal(found.count, 750);
	for (size_t i = 0; i < found.count; i++)
		assert_int_equal(found.item[i].entries, 4);
	xb_aggregates_free(&found);
}

/* The networks of those who were listed by a limit were not chosen by hand either. */
TEST_WITH(origins_are_inherited, begin_writer, end_txn)
{
	const struct xb_aggregate_terms terms = {"a", "new", 2, 24, 64, 60};
	struct xb_edit_result result = {0};
	struct xb_aggregates found = {0};
	struct xb_edit_refusal refusal;

	make_changes(txn, "+192.0.2.1 a; +192.0.2.2 a");
	xb_list_come_from(txn, list_of(txn, "a"), XB_ORIGIN_LIMIT);
	assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), 0);
	assert_int_equal(xb_aggregates_add(&writer, &terms, &found, &result, &refusal), 0);
	assert_int_equal(xb_list_origins(list_of(txn, "new")), 1U << XB_ORIGIN_LIMIT);
	xb_edit_result_free(&result);
	xb_aggregates_free(&found);
}

/* There it would let whole networks in. */
TEST_WITH(allow_only_lists_no_networks, begin_writer, end_txn)
{
	const struct xb_aggregate_terms terms = {"a", "a", 2, 24, 64, 60};
	struct xb_edit_result result = {0};
	struct xb_aggregates found = {0};
	struct xb_edit_refusal refusal;

	make_changes(txn, "+192.0.2.1 a; +192.0.2.2 a");
	txn->meta.policy = XB_POLICY_ALLOW_ONLY;
	assert_int_equal(xb_aggregates_find(txn, &terms, NOW, &found), 0);
	assert_int_equal(xb_aggregates_add(&writer, &terms, &found, &result, &refusal), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	xb_error_clear();
	assert_store(txn, "192.0.2.1 a; 192.0.2.2 a");
	xb_edit_result_free(&result);
	xb_aggregates_free(&found);
}
