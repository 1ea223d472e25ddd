/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks on both sides of the table, the entries that cover a given one, and what the allowlist
 * exempts: entries that cover it or lie in it, whole lists, reasons. */
#include "store/covers.h"
#include "store/exempt.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

TEST(sides_keep_apart)
{
	assert_store(txn, "");
	change_lists(txn, "!b.example y; !2001:db8::1 y; !192.0.2.1 y");
	assert_walk(txn, XB_WALK_LISTED, "");
	assert_walk(txn, XB_WALK_NAMES, "");
	change_lists(txn, "a.example x; 2001:db8::/32 x; 192.0.2.0/24 x; 192.0.2.1 x");
	assert_walk(txn, XB_WALK_LISTED,
		    "192.0.2.0/24 x; 192.0.2.1 x; 2001:db8::/32 x; a.example x");
	assert_walk(txn, XB_WALK_ALLOW, "!192.0.2.1 y; !2001:db8::1 y; !b.example y");
	assert_walk(txn, XB_WALK_NAMES, "a.example x");
}

TEST(only_names_on_a_side)
{
	change_lists(txn, "!192.0.2.1 y; a.example x; !b.example y");
	assert_walk(txn, XB_WALK_LISTED, "a.example x");
	commit_and_go_on();
	list_entry(txn, "192.0.2.1", "x");
	assert_walk(txn, XB_WALK_ALLOW, "!192.0.2.1 y; !b.example y");
	assert_walk(txn, XB_WALK_LISTED, "192.0.2.1 x; a.example x");
}

TEST(from_the_first_not_before)
{
	change_lists(
		txn,
		"192.0.2.0/25 x; 192.0.2.0/26 x; 192.0.2.64/26 x; com x; =com x; a.com x; b.net x");
	assert_walk(txn, entry_of("192.0.2.0/26"),
		    "192.0.2.0/26 x; 192.0.2.64/26 x; com x; =com x; a.com x; b.net x");
	assert_walk(txn, entry_of("192.0.2.1"), "192.0.2.64/26 x; com x; =com x; a.com x; b.net x");
	assert_walk(txn, entry_of("::"), "com x; =com x; a.com x; b.net x");
	assert_walk(txn, entry_of("=com"), "=com x; a.com x; b.net x");
	assert_walk(txn, entry_of("b.com"), "b.net x");
	assert_walk(txn, entry_of("c.net"), "");
	assert_walk(txn, entry_of("!0.0.0.0/0"), "");
}

/* The entry of the walk outlasts what the table has in memory. */
TEST(a_name_lasts_to_the_next_step)
{
	struct xb_membership member;
	struct xb_entry other;
	char text[XB_ENTRY_TEXT];
	struct xb_walk walk;

	change_lists(txn, "a.example x; b.example x");
	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_NAMES), 0);
	for (int first = 'a'; first <= 'b'; first++) {
		enum xb_removal removal;

		assert_int_equal(xb_walk_next(&walk), 1);
		assert_true(xb_members_have(walk.members, list_of(txn, "x")->id, &member));
		assert_int_equal(xb_member_remove(txn, &walk.entry, XB_ANY_LIST, &removal), 0);
		assert_int_equal(removal, XB_REMOVAL_UNLISTED);
		other = entry_of("192.0.2.1");
		assert_int_equal(xb_members_of(txn, &other, &walk.members), -ENOENT);
		snprintf(text, sizeof(text), "%c.example", first);
		other = entry_of(text);
		assert_int_equal(xb_entry_compare(&walk.entry, &other), 0);
	}
	assert_int_equal(xb_walk_next(&walk), 0);
	xb_walk_end(&walk);
	assert_store(txn, "");
}

TEST(lists_with_names)
{
	struct xb_list *list = list_of(txn, "x");

	assert_int_equal(xb_walk_finds_names(txn, list), 0);
	change_lists(txn, "192.0.2.1 x; a.example y");
	list_entry(txn, "!b.example", "x"); /* is not listed */
	assert_int_equal(xb_walk_finds_names(txn, list_of(txn, "x")), 0);
	assert_int_equal(xb_walk_finds_names(txn, list_of(txn, "y")), 1);
	list_entry(txn, "c.example", "x");
	assert_int_equal(xb_walk_finds_names(txn, list_of(txn, "x")), 1);
}

/* A record under its right checksum with a key that is none. */
TEST(a_wrong_key_is_damage)
{
	struct xb_entry odd = entry_of("192.0.2.1");
	MDB_val value = {4, "1234"}, none;
	struct xb_walk walk;

	odd.length = 33;
	assert_int_equal(xb_entries_get(txn, &odd, &none), -ENOENT);
	assert_int_equal(xb_entries_set(txn, &value), 0);
	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_LISTED), 0);
	assert_told(xb_walk_next(&walk));
	xb_walk_end(&walk);
}

static void assert_covers(const char *text, const char *expected)
{
	struct xb_entry asked = entry_of(text);
	struct listed_text found = {0};
	struct xb_members members;
	struct xb_covers covers;
	int more;

	xb_covers_begin(&asked, &covers);
	memset(&asked, 0, sizeof(asked)); /* need not outlive the call */
	entry_of("zzzzzzzzzz.zzzzzzzzzz");
	while ((more = xb_covers_next(txn, &covers, &members)) > 0)
		add_entry(txn, &covers.entry, members, &found);
	assert_int_equal(more, 0);
	assert_string_equal(found.text, expected);
	assert_int_equal(xb_covers_next(txn, &covers, &members), 0);
}

TEST(covers_of_addresses)
{
	assert_covers("192.0.2.1", "");
	change_lists(txn,
		     "0.0.0.0/0 x; 192.0.0.0/16 x; 192.0.2.0/24 x; 192.0.2.0/25 x; 192.0.2.1 x; "
		     "::/0 x; 2001:db8::1 x; !192.0.2.1 y");
	assert_covers("192.0.2.1",
		      "192.0.2.1 x; 192.0.2.0/25 x; 192.0.2.0/24 x; 192.0.0.0/16 x; 0.0.0.0/0 x");
	assert_covers("192.0.2.0/25",
		      "192.0.2.0/25 x; 192.0.2.0/24 x; 192.0.0.0/16 x; 0.0.0.0/0 x");
	assert_covers("192.0.3.0/24", "192.0.0.0/16 x; 0.0.0.0/0 x");
	assert_covers("0.0.0.0/0", "0.0.0.0/0 x");
	assert_covers("2001:db8::1", "2001:db8::1 x; ::/0 x");
	assert_covers("2001:db8::2", "::/0 x");
	assert_covers("!192.0.2.1", "!192.0.2.1 y");
	assert_covers("!192.0.2.2", "");
}

/* A domain stands also for a query for its name. */
TEST(covers_of_names)
{
	change_lists(txn, "com x; =example.com x; example.com x; =www.example.com x");
	assert_covers("www.example.com", "=www.example.com x; example.com x; com x");
	assert_covers("example.com", "=example.com x; example.com x; com x");
	assert_covers("=example.com", "=example.com x; example.com x; com x");
	assert_covers("example.net", "");
	assert_covers("=net", "");
}

TEST(covers_of_the_longest_name)
{
	char longest[255], expected[600];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[63] = longest[127] = longest[191] = '.';
	longest[253] = '\0';
	list_entry(txn, longest, "x");
	snprintf(expected, sizeof(expected), "%s x", longest);
	assert_covers(longest, expected);
}

TEST(what_has_expired_covers_nothing)
{
	change_lists(txn, "192.0.2.1 x until 500; 192.0.2.0/24 x");
	assert_covers("192.0.2.1", "192.0.2.1 x until 500; 192.0.2.0/24 x");
	txn->as_of = 500;
	assert_covers("192.0.2.1", "192.0.2.0/24 x");
}

/* --- what is exempt --- */

/* "COUNT LISTED by ALLOWED: WHY", "" for none. */
static void assert_exempt(const struct xb_exemptions *exempt, const char *expected)
{
	char text[512] = "", listed[XB_ENTRY_TEXT], allowed[XB_ENTRY_TEXT];

	if (exempt->count) {
		assert_true(xb_entry_is_allow(&exempt->allowed));
		assert_false(xb_entry_is_allow(&exempt->listed));
		snprintf(text, sizeof(text), "%u %s by %s: %s", (unsigned int)exempt->count,
			 xb_entry_format(&exempt->listed, listed),
			 xb_entry_format(&exempt->allowed, allowed), exempt->why);
	}
	assert_string_equal(text, expected);
}

static void assert_entry(const char *listed, const char *expected)
{
	struct xb_exemptions exempt = {0};
	struct xb_entry entry = entry_of(listed);

	assert_int_equal(xb_exempt_entry(txn, &entry, &exempt), 0);
	assert_exempt(&exempt, expected);
}

static void assert_list(const char *list, const char *expected)
{
	struct xb_exemptions exempt = {0};

	assert_int_equal(xb_exempt_list(txn, list_of(txn, list)->id, &exempt), 0);
	assert_exempt(&exempt, expected);
}

TEST(entries_that_cover_and_lie_within)
{
	assert_entry("0.0.0.0/0", "");
	change_lists(
		txn,
		"!192.0.2.0/24 office; !192.0.2.128/25 allow; !198.51.100.1 allow; !198.51.100.9 "
		"allow; !198.51.101.1 allow; !2001:db8::/32 allow; !example.com allow");
	/* by the longest that covers it, which alone suffices */
	assert_entry("192.0.2.1", "1 192.0.2.1 by 192.0.2.0/24: list office");
	assert_entry("192.0.2.129", "1 192.0.2.129 by 192.0.2.128/25: list allow");
	assert_entry("192.0.3.0", "");
	assert_entry("192.0.1.255", "");
	/* the same, and what lies in it */
	assert_entry("192.0.2.0/24", "2 192.0.2.0/24 by 192.0.2.0/24: list office");
	assert_entry("198.51.100.1", "1 198.51.100.1 by 198.51.100.1: list allow");
	assert_entry("198.51.100.0/24", "2 198.51.100.0/24 by 198.51.100.1: list allow");
	assert_entry("198.51.100.0/29", "1 198.51.100.0/29 by 198.51.100.1: list allow");
	assert_entry("198.51.100.2/31", "");
	/* of its own family only, names not at all */
	assert_entry("0.0.0.0/0", "5 0.0.0.0/0 by 192.0.2.0/24: list office");
	assert_entry("::/0", "1 ::/0 by 2001:db8::/32: list allow");
	assert_entry("2001:db8::1", "1 2001:db8::1 by 2001:db8::/32: list allow");
	assert_entry("2001:db9::1", "");
	assert_entry("example.com", "");
	assert_entry("www.example.com", "");
}

TEST(the_first_is_kept)
{
	struct xb_entry first = entry_of("192.0.2.1"), second = entry_of("198.51.100.1");
	struct xb_exemptions exempt = {0};

	change_lists(txn, "!192.0.2.1 one; !198.51.100.1 two");
	assert_int_equal(xb_exempt_entry(txn, &second, &exempt), 0);
	assert_int_equal(xb_exempt_entry(txn, &first, &exempt), 0);
	assert_exempt(&exempt, "2 198.51.100.1 by 198.51.100.1: list two");
}

TEST(reasons)
{
	struct xb_entry entry = entry_of("192.0.2.2");
	struct xb_exemptions exempt = {0};
	char longest[256];

	change_lists(txn, "!192.0.2.1 auto:gateway (default route of eth0) office");
	assert_entry("192.0.2.1", "1 192.0.2.1 by 192.0.2.1: gateway, default route of eth0");
	memset(longest, 'c', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	list_with(txn, "!192.0.2.2", "auto:gateway", 0, longest);
	assert_int_equal(xb_exempt_entry(txn, &entry, &exempt), 0);
	assert_int_equal(strlen(exempt.why), sizeof(exempt.why) - 1);
}

/* There listed sources pass. */
TEST(nothing_under_allow_only)
{
	change_lists(txn, "!192.0.2.1 allow; 192.0.2.1 default");
	assert_list("default", "1 192.0.2.1 by 192.0.2.1: list allow");
	txn->meta.policy = XB_POLICY_ALLOW_ONLY;
	assert_entry("192.0.2.1", "");
	assert_list("default", "");
}

TEST(whole_lists)
{
	change_lists(txn,
		     "10.0.0.0/8 a; 192.0.2.0/25 a; 2001:db8::/32 a; example.com a; 0.0.0.0/0 b; "
		     "!example.com allow");
	assert_list("a", "");
	list_entry(txn, "!198.51.100.1", "allow"); /* only b has it */
	assert_list("a", "");
	assert_list("b", "1 0.0.0.0/0 by 198.51.100.1: list allow");
	list_entry(txn, "!192.0.2.0/24", "allow"); /* wider than what a has */
	assert_list("a", "");
	assert_list("b", "2 0.0.0.0/0 by 192.0.2.0/24: list allow");
	/* of each kind, the widest of those with counters too */
	change_lists(txn, "!192.0.2.0/25 allow; !192.0.2.127 allow; !2001:db8::/32 allow; "
			  "!2001:db8::1 allow");
	assert_list("a", "4 192.0.2.0/25 by 192.0.2.0/25: list allow");
	list_entry(txn, "!10.0.0.1", "allow"); /* below a prefix without counters */
	assert_list("a", "5 10.0.0.0/8 by 10.0.0.1: list allow");
	assert_list("empty", "");
}

/* The allowlist is what the transaction has in memory, until the list is looked into. */
TEST(what_is_being_changed)
{
	char longest[200];

	list_many(txn);
	commit_and_go_on();
	memset(longest, 'c', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	list_with(txn, "10.0.0.0", "a", 0, longest);
	list_entry(txn, "!10.0.0.0", "office");
	assert_list("a", "1 10.0.0.0 by 10.0.0.0: list office");
}

EACH_TEST(begin_txn, end_txn);
