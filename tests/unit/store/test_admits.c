/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom allow-only admits: sources, each once, by lists that do not only count. */
#include <stdio.h>
#include <string.h>

#include "store/admits.h"
#include "store/listverdict.h"
#include "store/origins.h"
#include "support/cmocka.h"
#include "support/waiting.h"

/* "SOURCES: LIST SOURCES[ ORIGINS]; ..." */
static void assert_admits(const char *expected)
{
	struct listed_text out = {0};
	struct xb_admits admits;
	char line[128];

	assert_int_equal(xb_admits_find(txn, &admits), 0);
	snprintf(line, sizeof(line), "%llu:", (unsigned long long)admits.sources);
	add_text(&out, "%s", line);
	for (size_t i = 0; i < admits.count; i++) {
		const struct xb_admitting *list = &admits.list[i];

		snprintf(line, sizeof(line), " %s %llu", list->name,
			 (unsigned long long)list->sources);
		add_text(&out, "%s", line);
		snprintf(line, sizeof(line), " %x", list->origins);
		add_text(&out, "%s", list->origins ? line : "");
	}
	assert_string_equal(out.text, expected);
	assert_int_equal(xb_admits_none(txn), !admits.sources);
	xb_admits_free(&admits);
	assert_null(admits.list);
}

TEST(sources_of_lists)
{
	assert_admits("0:");
	list_entry(txn, "!192.0.2.9", XB_LIST_ALLOW);
	assert_admits("0:");
	list_entry(txn, "192.0.2.1", "a");
	list_entry(txn, "198.51.100.0/24", "a");
	list_entry(txn, "2001:db8::/32", "b");
	list_entry(txn, "192.0.2.1", "b");
	list_entry(txn, "example.com", "b");
	list_entry(txn, "example.com", "names");
	assert_admits("3: a 2 b 2");
	commit_and_go_on();
	xb_list_come_from(txn, list_of(txn, "b"), XB_ORIGIN_FEED);
	assert_admits("3: a 2 b 2 2");
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "a"), XB_DOMAIN_COUNT), 0);
	assert_admits("2: b 2 2");
	unlist("192.0.2.1", "b");
	assert_admits("1: b 1 2");
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_COUNT), 0);
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "names"), XB_DOMAIN_COUNT), 0);
	assert_admits("0:");
}

EACH_TEST(begin_txn, end_txn);
