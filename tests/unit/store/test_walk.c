/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks on both sides of the table, and the entries that cover a given one. */
#include "store/covers.h"
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

EACH_TEST(begin_txn, end_txn);
