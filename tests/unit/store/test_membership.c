/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries join lists and leave them: what came of it, the verdict of a domain, the classes of an
 * address, and what the filter is told of each. */
#include "store/expiry.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

/* The classes of the lists: "mail" and "post" have one, "web" another, "trial" counts, "all" has
 * none. */
static uint32_t mail, web, trial;

static void set_scope(const char *name, const char *text)
{
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(text, &scope), 0);
	assert_int_equal(xb_list_scope_set(txn, list_of(txn, name), &scope), 0);
}

static int begin_lists(void **state)
{
	if (begin_txn(state))
		return -1;
	set_scope("mail", "tcp/25");
	set_scope("post", "tcp/25");
	set_scope("web", "tcp/80");
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "trial"), XB_DOMAIN_COUNT), 0);
	list_entry(txn, "203.0.113.1", "all");
	mail = 1U << list_of(txn, "mail")->class;
	web = 1U << list_of(txn, "web")->class;
	trial = 1U << list_of(txn, "trial")->class;
	assert_int_equal(mail, 1U << list_of(txn, "post")->class);
	assert_int_equal(list_of(txn, "all")->class, XB_CLASS_ALL);
	commit_and_go_on();
	return 0;
}

static void leave(const char *text, const char *list, enum xb_removal expected)
{
	struct xb_entry entry = entry_of(text);
	enum xb_removal removal;

	assert_int_equal(xb_member_remove(txn, &entry, list ? list_of(txn, list)->id : XB_ANY_LIST,
					  &removal),
			 0);
	assert_int_equal(removal, expected);
}

/* What the store says of the entry now. */
static uint32_t classes_of(const char *text)
{
	struct xb_entry entry = entry_of(text);
	struct xb_members members;
	int error = xb_members_of(txn, &entry, &members);

	assert_true(!error || error == -ENOENT);
	return error ? 0 : xb_members_classes(txn, members);
}

/* The only change since the last call; before == after: there is none. */
static void assert_told_of(const char *text, uint32_t before, uint32_t after)
{
	struct xb_entry entry = entry_of(text);
	const struct xb_change *change = txn->change.change;

	assert_false(txn->change.bulk);
	assert_int_equal(txn->change.count, before != after);
	if (before != after) {
		assert_int_equal(xb_entry_compare(&change->entry, &entry), 0);
		assert_int_equal(change->before, before);
		assert_int_equal(change->after, after);
		assert_int_equal(change->what, xb_what_of(before, after));
	}
	xb_changes_free(&txn->change);
}

/* As the store has it as well. */
static void assert_change(const char *text, uint32_t before, uint32_t after)
{
	assert_int_equal(classes_of(text), after);
	assert_told_of(text, before, after);
}

static void assert_put(enum xb_put expected, const char *text, const char *list, uint32_t expires,
		       const char *comment, unsigned int renew)
{
	assert_int_equal(put_entry(txn, text, list, expires, comment, renew), expected);
}

TEST(what_a_put_does)
{
	assert_put(XB_PUT_LISTED, "192.0.2.1", "a", 0, "why", 0);
	assert_put(XB_PUT_SAME, "192.0.2.1", "a", 700, "other", 0);
	assert_put(XB_PUT_SAME, "192.0.2.1", "a", 0, "other", XB_RENEW_EXPIRY);
	assert_put(XB_PUT_JOINED, "192.0.2.1", "b", 900, NULL, 0);
	assert_put(XB_PUT_RENEWED, "192.0.2.1", "a", 500, NULL, XB_RENEW_EXPIRY);
	assert_put(XB_PUT_RENEWED, "192.0.2.1", "b", 0, "new", XB_RENEW_COMMENT);
	assert_walk(txn, entry_of("192.0.2.1"),
		    "192.0.2.1 a until 500 (why) b until 900 (new); 203.0.113.1 all");
	assert_int_equal(txn->meta.totals.host4, 2);
	assert_int_equal(txn->change.count, 1);
	leave("192.0.2.2", NULL, XB_REMOVAL_ABSENT);
	leave("192.0.2.1", "a", XB_REMOVAL_LEFT);
	leave("192.0.2.1", NULL, XB_REMOVAL_UNLISTED);
	assert_int_equal(txn->meta.totals.host4, 1);
	assert_int_equal(txn->change.count, 2);
	assert_null(xb_list_find(txn, "b"));
}

static void assert_verdict(enum xb_domain_verdict verdict, enum xb_what what)
{
	struct xb_entry entry = entry_of("example.com");
	struct xb_members members;

	if (what != XB_GONE) {
		assert_int_equal(xb_members_of(txn, &entry, &members), 0);
		assert_int_equal(xb_members_verdict(txn, members), verdict);
	}
	assert_int_equal(txn->change.count, 1);
	assert_int_equal(txn->change.change->what, what);
	xb_changes_free(&txn->change);
}

/* The strictest of its lists; that it may have changed is told. */
TEST(verdicts)
{
	list_of(txn, "nx")->verdict = XB_DOMAIN_NXDOMAIN;
	list_entry(txn, "example.com", "trial");
	assert_verdict(XB_DOMAIN_COUNT, XB_LISTED);
	list_entry(txn, "example.com", "nx");
	assert_verdict(XB_DOMAIN_NXDOMAIN, XB_ALTERED);
	list_entry(txn, "example.com", "all");
	assert_verdict(XB_DOMAIN_DROP, XB_ALTERED);
	leave("example.com", "all", XB_REMOVAL_LEFT);
	assert_verdict(XB_DOMAIN_NXDOMAIN, XB_ALTERED);
	leave("example.com", NULL, XB_REMOVAL_UNLISTED);
	assert_verdict(0, XB_GONE);
}

TEST(lists_are_joined_and_left)
{
	static const char *const texts[] = {"192.0.2.1", "192.0.2.0/24", "192.0.2.64/26",
					    "2001:db8::/32", "2001:db8::1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = texts[i];

		list_entry(txn, text, "mail");
		assert_change(text, 0, mail);
		list_entry(txn, text, "post"); /* of the same class */
		assert_change(text, mail, mail);
		list_entry(txn, text, "trial");
		assert_change(text, mail, mail | trial);
		list_entry(txn, text, "all");
		assert_change(text, mail | trial, mail | trial | XB_CLASSES_ALL);
		leave(text, "mail", XB_REMOVAL_LEFT); /* the other one still has it */
		assert_change(text, mail | trial | XB_CLASSES_ALL, mail | trial | XB_CLASSES_ALL);
		leave(text, "post", XB_REMOVAL_LEFT);
		assert_change(text, mail | trial | XB_CLASSES_ALL, trial | XB_CLASSES_ALL);
		leave(text, "web", XB_REMOVAL_ABSENT);
		assert_change(text, trial | XB_CLASSES_ALL, trial | XB_CLASSES_ALL);
		leave(text, "all", XB_REMOVAL_LEFT);
		assert_change(text, trial | XB_CLASSES_ALL, trial);
		list_entry(txn, text, "web");
		assert_change(text, trial, trial | web);
		leave(text, NULL, XB_REMOVAL_UNLISTED);
		assert_change(text, trial | web, 0);
	}
}

/* Domains and what is allowed have no classes, whatever the scope of their list. */
TEST(others_have_no_classes)
{
	static const char *const texts[] = {"a.example", "=a.example", "!192.0.2.1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		list_entry(txn, texts[i], "mail");
		assert_told_of(texts[i], 0, XB_CLASSES_ALL);
		leave(texts[i], "mail", XB_REMOVAL_UNLISTED);
		assert_told_of(texts[i], XB_CLASSES_ALL, 0);
	}
}

static void sweep(uint32_t now)
{
	assert_int_equal(xb_expiry_sweep(txn, now, NULL), 0);
}

TEST(classes_expire)
{
	change_lists(txn, "192.0.2.1 mail until 100 web until 200 post until 300 all until 400");
	xb_changes_free(&txn->change);
	sweep(100);
	assert_change("192.0.2.1", mail | web | XB_CLASSES_ALL, mail | web | XB_CLASSES_ALL);
	sweep(200);
	assert_change("192.0.2.1", mail | web | XB_CLASSES_ALL, mail | XB_CLASSES_ALL);
	sweep(300);
	assert_change("192.0.2.1", mail | XB_CLASSES_ALL, XB_CLASSES_ALL);
	sweep(400);
	assert_change("192.0.2.1", XB_CLASSES_ALL, 0);
}

/* A reader sees the classes that a sweep would leave; a renewal keeps them. */
TEST(what_is_overlooked_has_no_class)
{
	struct xb_entry entry = entry_of("192.0.2.1");
	struct xb_members members;
	struct xb_txn *reader;
	uint64_t overlooked;

	change_lists(txn, "192.0.2.1 mail until 100 web until 200");
	commit_and_go_on();
	assert_int_equal(xb_store_read(store, &reader), 0);
	assert_int_equal(xb_expiry_overlook(reader, 100, &overlooked), 0);
	assert_int_equal(xb_members_of(reader, &entry, &members), 0);
	assert_int_equal(xb_members_classes(reader, members), web);
	xb_txn_abort(reader);
	assert_put(XB_PUT_RENEWED, "192.0.2.1", "web", 500, NULL, XB_RENEW_EXPIRY);
	assert_change("192.0.2.1", mail | web, mail | web);
	sweep(200);
	assert_change("192.0.2.1", mail | web, web);
}

/* In one transaction, before it is settled. */
TEST(from_list_to_list)
{
	change_lists(txn, "192.0.2.1 mail; 192.0.2.2 mail");
	commit_and_go_on();
	leave("192.0.2.1", "mail", XB_REMOVAL_UNLISTED);
	change_lists(txn, "192.0.2.1 web; 192.0.2.2 post");
	leave("192.0.2.2", "mail", XB_REMOVAL_LEFT);
	assert_int_equal(xb_changes_settle(&txn->change), 0);
	assert_change("192.0.2.1", mail, web);
}

EACH_TEST(begin_lists, end_txn);
