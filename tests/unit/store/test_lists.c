/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lists: names, numbers, which exist, names kept of them; their classes and verdicts,
 * where they come from, and whom they admit. */
#include "store/admits.h"
#include "store/flush.h"
#include "store/listclass.h"
#include "store/listnames.h"
#include "store/listverdict.h"
#include "store/origins.h"
#include "store/sealedrecord.h"
#include "support/cmocka.h"
#include "support/waiting.h"

static size_t stored(void)
{
	MDB_stat stat;

	assert_int_equal(mdb_stat(txn->txn, store->lists, &stat), 0);
	return stat.ms_entries;
}

TEST(names)
{
	static const char *const good[] = {"a", "0", "A.b_c-d", "a."};
	static const char *const bad[] = {"",	 ".a",	"_a", "-a",    "a b",	   "a/b",
					  "a:b", "a\n", "a@", "a\x7f", "\xc3\xa4", "auto:ssh"};
	struct xb_list *list;
	char longest[66];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(xb_list_name_ok(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(xb_list_name_ok(bad[i]));
		assert_int_equal(xb_list_need(txn, bad[i], &list), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		xb_error_clear();
	}
	memset(longest, 'n', sizeof(longest));
	longest[65] = '\0';
	assert_int_equal(xb_list_need(txn, longest, &list), -EINVAL);
	xb_error_clear();
	longest[64] = '\0';
	list_of(txn, longest)->members = 1;
	commit_and_go_on();
	assert_non_null(xb_list_find(txn, longest));
}

TEST(which_exist)
{
	uint32_t id = list_of(txn, "a")->id;

	assert_int_equal(list_of(txn, "a")->id, id);
	assert_int_not_equal(id, XB_ANY_LIST);
	assert_null(xb_list_find(txn, "a"));
	assert_ptr_equal(xb_list_by_name(txn, "a"), xb_list_by_id(txn, id));
	list_entry(txn, "192.0.2.1", "a");
	assert_non_null(xb_list_find(txn, "a"));
	commit_and_go_on();
	assert_int_equal(stored(), 1);
	assert_int_equal(xb_list_find(txn, "a")->id, id);
	assert_int_equal(xb_list_find(txn, "a")->members, 1);
	/* one that was emptied can be found until the transaction ends */
	xb_list_find(txn, "a")->members = 0;
	assert_null(xb_list_find(txn, "a"));
	assert_int_equal(list_of(txn, "a")->id, id);
	commit_and_go_on();
	assert_int_equal(stored(), 0);
	assert_null(xb_list_by_name(txn, "a"));
	assert_null(xb_list_by_id(txn, id));
	/* memberships name a list by its number, so no other list has it later */
	assert_int_not_equal(list_of(txn, "b")->id, id);
}

TEST(a_verdict_keeps_a_list)
{
	list_of(txn, "a")->verdict = XB_DOMAIN_NXDOMAIN;
	list_of(txn, "never");
	commit_and_go_on();
	assert_int_equal(stored(), 1);
	assert_int_equal(xb_list_find(txn, "a")->verdict, XB_DOMAIN_NXDOMAIN);
	xb_list_find(txn, "a")->verdict = XB_DOMAIN_DROP;
	commit_and_go_on();
	assert_int_equal(stored(), 0);
}

TEST(an_abort_forgets)
{
	list_of(txn, "a")->members = 1;
	abort_and_go_on();
	assert_null(xb_list_by_name(txn, "a"));
}

#define MANY 5000

/* More than the index has room for at first, and then some. */
TEST(many)
{
	static uint32_t ids[MANY];
	char name[16];

	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		list_of(txn, name)->members = i + 1;
		ids[i] = list_of(txn, name)->id;
	}
	for (int loaded = 0; loaded < 2; loaded++) {
		for (unsigned int i = 0; i < MANY; i++) {
			struct xb_list *list = xb_list_by_id(txn, ids[i]);

			snprintf(name, sizeof(name), "l%u", i);
			assert_non_null(list);
			assert_string_equal(list->name, name);
			assert_int_equal(list->members, i + 1);
			assert_ptr_equal(xb_list_by_name(txn, name), list);
		}
		assert_null(xb_list_by_name(txn, "l5000"));
		assert_null(xb_list_by_id(txn, XB_NO_LIST));
		commit_and_go_on();
	}
}

TEST(automatic_ones)
{
	struct xb_list_name item[] = {{"office"}, {"autocar"}, {"auto:ssh"}, {"auto:gateway"}};
	struct xb_list_names names = {item, 4};
	struct xb_list *list;

	assert_int_equal(xb_list_need_auto(txn, "ssh", &list), 0);
	assert_string_equal(list->name, "auto:ssh");
	assert_true(xb_list_is_auto(list));
	assert_false(xb_list_has_verdict(list));
	assert_false(xb_list_is_auto(list_of(txn, "auto")));
	assert_true(xb_list_has_verdict(list_of(txn, "auto")));
	assert_true(xb_list_has_verdict(list_of(txn, "allowed")));
	assert_false(xb_list_has_verdict(list_of(txn, XB_LIST_ALLOW)));
	assert_false(xb_list_is_auto(list_of(txn, XB_LIST_ALLOW)));
	assert_string_equal(xb_list_names_automatic(&names), "ssh");
	names.count = 2;
	assert_null(xb_list_names_automatic(&names));
	names.count = 0;
	assert_null(xb_list_names_automatic(&names));
}

static void assert_names(const char *text, uint32_t only, const char *expected)
{
	struct xb_entry entry = entry_of(text);
	struct listed_text found = {0};
	struct xb_list_names names;
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	assert_int_equal(xb_list_names_of(txn, members, only, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		add_text(&found, i ? " %s" : "%s", names.item[i].text);
	assert_string_equal(found.text, expected);
	xb_list_names_free(&names);
	assert_null(names.item);
	assert_int_equal(names.count, 0);
}

TEST(names_of_lists)
{
	struct xb_list_names none;

	change_lists(txn, "192.0.2.1 b a c until 500 (why)");
	assert_names("192.0.2.1", XB_ANY_LIST, "b a c");
	assert_names("192.0.2.1", list_of(txn, "a")->id, "a");
	assert_names("192.0.2.1", XB_NO_LIST, "");
	txn->as_of = 500;
	assert_names("192.0.2.1", XB_ANY_LIST, "b a");
	assert_int_equal(xb_list_names_of(txn, (struct xb_members){0}, XB_ANY_LIST, &none), 0);
	assert_int_equal(none.count, 0);
	xb_list_names_free(&none);
}

/* --- scopes and classes --- */

static int set_scope(const char *name, const char *text)
{
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(text, &scope), 0);
	return xb_list_scope_set(txn, list_of(txn, name), &scope);
}

static uint32_t class_of(const char *name)
{
	return list_of(txn, name)->class;
}

TEST(scopes_are_kept)
{
	char text[XB_SCOPE_TEXT];
	uint32_t before;

	assert_int_equal(class_of("a"), XB_CLASS_ALL);
	assert_int_equal(set_scope("a", "tcp/25"), 0);
	before = class_of("a");
	assert_int_not_equal(before, XB_CLASS_ALL);
	/* Packets may still be counted under a number that was given up just now. */
	assert_int_equal(set_scope("a", "tcp/25,tcp/465,tcp/587"), 0);
	assert_int_not_equal(class_of("a"), before);
	commit_and_go_on();
	assert_string_equal(xb_scope_format(xb_list_scope(list_of(txn, "a")), text),
			    "tcp/25,tcp/465,tcp/587");
	assert_int_not_equal(class_of("a"), XB_CLASS_ALL);
	assert_int_equal(set_scope("a", "all"), 0);
	assert_int_equal(class_of("a"), XB_CLASS_ALL);
	commit_and_go_on();
	assert_null(xb_list_find(txn, "a"));
}

TEST(who_is_alike_shares)
{
	struct xb_class classes[XB_CLASSES];
	uint32_t used;

	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_int_equal(set_scope("b", "tcp/25-25"), 0);
	assert_int_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_NXDOMAIN), 0);
	assert_int_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_COUNT), 0);
	assert_int_not_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "c"), XB_DOMAIN_COUNT), 0);
	used = xb_list_classes(txn, classes);
	assert_int_equal(used,
			 1U | 1U << class_of("a") | 1U << class_of("b") | 1U << class_of("c"));
	assert_false(classes[class_of("a")].counts);
	assert_true(classes[class_of("b")].counts);
	assert_non_null(classes[class_of("b")].scope);
	assert_null(classes[class_of("c")].scope);
}

TEST(all_numbers_are_used)
{
	char text[32], name[8];

	for (int i = 1; i < XB_CLASSES; i++) {
		snprintf(text, sizeof(text), "tcp/%d", i);
		snprintf(name, sizeof(name), "l%d", i);
		assert_int_equal(set_scope(name, text), 0);
	}
	assert_int_equal(set_scope("more", "tcp/1"), 0);
	assert_int_equal(set_scope("more", "tcp/99"), -EINVAL);
	xb_error_clear();
	assert_int_equal(set_scope("l7", "udp/7"), 0);
	for (int i = 1; i < XB_CLASSES; i++)
		for (int j = 1; j < i; j++) {
			char other[8];

			snprintf(name, sizeof(name), "l%d", i);
			snprintf(other, sizeof(other), "l%d", j);
			assert_int_not_equal(class_of(name), class_of(other));
		}
}

TEST(what_changes_is_bulk)
{
	commit_and_go_on();
	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_true(txn->change.bulk);
	assert_false(txn->change.tightens);
	commit_and_go_on();
	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_false(txn->change.bulk);
	assert_int_equal(set_scope("a", "tcp/25,udp/53"), 0);
	assert_true(txn->change.bulk);
	assert_true(txn->change.tightens);
}

/* --- where they come from --- */

#define IMPORT XB_ORIGIN_IMPORT
#define FEED   XB_ORIGIN_FEED

/* "LIST=ORIGINS ...", for lists that have some; no record says so of none. */
static void assert_origins(const char *expected)
{
	struct listed_text found = {0};
	const void *record;
	char line[80];
	size_t size;

	for (size_t i = 0; i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];
		uint32_t origins = xb_list_origins(list);

		snprintf(line, sizeof(line), "%s%s%s%s%s ", list->name, origins ? "=" : "",
			 origins >> IMPORT & 1 ? "i" : "", origins >> FEED & 1 ? "f" : "",
			 origins >> XB_ORIGIN_FLEET & 1 ? "F" : "");
		add_text(&found, "%s", origins ? line : "");
	}
	assert_string_equal(found.text, expected);
	if (!txn->edits)
		assert_int_equal(xb_sealed_find(txn, "origins", &record, &size), found.used > 0);
}

static void list_from(const char *text, const char *list, enum xb_origin origin)
{
	list_entry(txn, text, list);
	xb_list_come_from(txn, list_of(txn, list), origin);
}

TEST(origins_are_kept)
{
	uint64_t edits;

	list_from("192.0.2.1", "a", IMPORT);
	list_entry(txn, "192.0.2.1", "b");
	list_from("192.0.2.2", "c", FEED);
	for (int i = 0; i < 3; i++) {
		commit_and_go_on();
		assert_origins("a=i c=f ");
		list_with(txn, "192.0.2.9", "b", 0, i ? "again" : NULL);
	}
	edits = txn->edits;
	xb_list_come_from(txn, list_of(txn, "a"), IMPORT);
	assert_true(txn->edits == edits);
	xb_list_come_from(txn, list_of(txn, "a"), FEED);
	assert_true(txn->edits > edits);
	commit_and_go_on();
	assert_origins("a=if c=f ");
	/* What is given up, is not there. */
	xb_list_come_from(txn, list_of(txn, "b"), FEED);
	abort_and_go_on();
	assert_origins("a=if c=f ");
}

TEST(origins_go_with_the_last_entry)
{
	uint64_t count;

	list_from("192.0.2.1", "a", IMPORT);
	list_from("192.0.2.2", "a", IMPORT);
	list_from("192.0.2.3", "b", FEED);
	list_of(txn, "a")->verdict = XB_DOMAIN_NXDOMAIN;
	commit_and_go_on();
	commit_change("-192.0.2.1 a");
	assert_origins("a=i b=f ");
	change_lists(txn, "-192.0.2.2 a");
	assert_origins("b=f ");
	commit_and_go_on();
	assert_origins("b=f ");
	/* The list was there all the while, since it has a verdict. */
	commit_change("192.0.2.1 a");
	assert_origins("b=f ");
	assert_int_equal(xb_flush_list(txn, list_of(txn, "b")->id, &count), 0);
	commit_and_go_on();
	assert_origins("");
	list_from("192.0.2.3", "b", FEED);
	commit_and_go_on();
	assert_int_equal(xb_flush_all(txn), 0);
	commit_change("192.0.2.1 a");
	assert_origins("");
}

/* What other hosts list; what this one lists itself, comes back as it is. */
TEST(origins_of_a_fleet)
{
	share("a", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	share("b", XB_SHARE_FOLLOW);
	commit_change("192.0.2.1 a");
	xb_fleet_applies(txn, true);
	change_lists(txn, "192.0.2.1 a; example.com b");
	assert_origins("");
	change_lists(txn, "192.0.2.2 a; 2001:db8::1 b");
	assert_origins("a=F b=F ");
	commit_and_go_on();
	assert_origins("a=F b=F ");
}

/* --- whom allow-only admits --- */

/* "SOURCES: LIST SOURCES/ORIGINS ..." */
static void assert_admits(const char *expected)
{
	struct listed_text out = {0};
	struct xb_admits admits;
	char line[128];

	assert_int_equal(xb_admits_find(txn, &admits), 0);
	snprintf(line, sizeof(line), "%u:", (unsigned int)admits.sources);
	add_text(&out, "%s", line);
	for (size_t i = 0; i < admits.count; i++) {
		const struct xb_admitting *list = &admits.list[i];

		snprintf(line, sizeof(line), " %s %u/%x", list->name, (unsigned int)list->sources,
			 list->origins);
		add_text(&out, "%s", line);
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
	change_lists(txn, "192.0.2.1 a; 198.51.100.0/24 a; 2001:db8::/32 b; 192.0.2.1 b; "
			  "example.com b names");
	assert_admits("3: a 2/0 b 2/0");
	commit_and_go_on();
	xb_list_come_from(txn, list_of(txn, "b"), XB_ORIGIN_FEED);
	assert_admits("3: a 2/0 b 2/2");
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "a"), XB_DOMAIN_COUNT), 0);
	assert_admits("2: b 2/2");
	change_lists(txn, "-192.0.2.1 b");
	assert_admits("1: b 1/2");
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_COUNT), 0);
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "names"), XB_DOMAIN_COUNT), 0);
	assert_admits("0:");
}

EACH_TEST(begin_txn, end_txn);
