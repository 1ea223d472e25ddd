/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What add and del do, refuse, and say of what they did. */
#include <string.h>

#include "engine/edit.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

#define NOW 1000

static struct xb_writer writer;

static int open_writer(void **state)
{
	int error = begin(state);

	writer = (struct xb_writer){.builder_lock = -1, .writer_lock = -1, .now = NOW};
	return error ? error : xb_store_write(store, &writer.txn);
}

static int close_writer(void **state)
{
	xb_txn_abort(writer.txn);
	return end(state);
}

static int take(struct xb_edit *edit, const char *text, struct xb_edit_refusal *refusal)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	return xb_edit_take(edit, &entry, refusal);
}

/* One entry by the terms. */
static int edit_one(struct xb_edit_terms terms, const char *text, struct xb_edit_result *result,
		    struct xb_edit_refusal *refusal)
{
	struct xb_edit edit = {.terms = terms};
	int error;

	assert_int_equal(take(&edit, text, refusal), 0);
	error = xb_edit_all(&writer, &edit, result, refusal);
	xb_edit_free(&edit);
	return error;
}

static void add(struct xb_edit_terms terms, const char *text)
{
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;

	terms.add = true;
	assert_int_equal(edit_one(terms, text, &result, &refusal), 0);
	assert_int_equal(result.added, 1);
}

static const char *text_of(const struct xb_entry *entry)
{
	static char text[XB_ENTRY_TEXT];

	return xb_entry_format(entry, text);
}

/* In which lists the entry of this side is. */
static void is_in(const char *text, bool allow, const char *first, const char *second)
{
	struct xb_list_names lists = {0};
	uint8_t form[XB_NAME_BYTES];
	struct xb_members members;
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	if (allow)
		entry = xb_entry_allow(&entry);
	if (!xb_members_of(writer.txn, &entry, &members))
		assert_int_equal(xb_list_names_of(writer.txn, members, XB_ANY_LIST, &lists), 0);
	assert_int_equal(lists.count, (first != NULL) + (second != NULL));
	if (first)
		assert_string_equal(lists.item[0].text, first);
	if (second)
		assert_string_equal(lists.item[1].text, second);
	xb_list_names_free(&lists);
}

TEST(entries_go_to_the_list_of_their_side)
{
	add((struct xb_edit_terms){0}, "192.0.2.1");
	add((struct xb_edit_terms){.list = "mine"}, "192.0.2.1");
	add((struct xb_edit_terms){.allow = true}, "192.0.2.1");
	add((struct xb_edit_terms){.allow = true, .list = "mine"}, "example.com");
	is_in("192.0.2.1", false, "default", "mine");
	is_in("192.0.2.1", true, "allow", NULL);
	is_in("example.com", true, "mine", NULL);
	is_in("example.com", false, NULL, NULL);
}

static struct xb_membership membership_of(const char *text, const char *list)
{
	struct xb_membership member = {0};
	struct xb_members members;
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	assert_int_equal(xb_members_of(writer.txn, &entry, &members), 0);
	assert_true(xb_members_have(members, xb_list_by_name(writer.txn, list)->id, &member));
	return member;
}

/* Without `exist` an entry that is there is refused; with it, it takes what is given anew. */
TEST(add_again)
{
	const struct xb_edit_terms again = {.add = true, .exist = true};
	struct xb_edit_terms renewed = again;
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;

	add((struct xb_edit_terms){.timeout = 60, .comment = "why"}, "192.0.2.1");
	assert_int_equal(
		edit_one((struct xb_edit_terms){.add = true}, "192.0.2.1", &result, &refusal),
		XB_EDIT_REFUSED);
	assert_int_equal(refusal.why, XB_EDIT_LISTED);
	assert_string_equal(refusal.list, "default");
	assert_string_equal(text_of(&refusal.entry), "192.0.2.1");
	xb_edit_refusal_free(&refusal);
	assert_int_equal(edit_one(again, "192.0.2.1", &result, &refusal), 0);
	assert_int_equal(result.unchanged, 1);
	assert_int_equal(membership_of("192.0.2.1", "default").expires, NOW + 60);

	renewed.timeout = 90;
	assert_int_equal(edit_one(renewed, "192.0.2.1", &result, &refusal), 0);
	assert_int_equal(result.renewed, 1);
	assert_int_equal(result.unchanged, 0);
	assert_int_equal(membership_of("192.0.2.1", "default").expires, NOW + 90);
	assert_int_equal(membership_of("192.0.2.1", "default").comment_size, 3);
}

TEST(too_wide)
{
	static const char *const wide[] = {"10.0.0.0/7", "2000::/15", "localhost"};
	struct xb_edit_refusal refusal;

	for (size_t i = 0; i < 3; i++) {
		struct xb_edit edit = {.terms = {.add = true}};

		assert_int_equal(take(&edit, wide[i], &refusal), XB_EDIT_REFUSED);
		assert_int_equal(refusal.why, XB_EDIT_TOO_WIDE);
		assert_true(refusal.reason_size);
		xb_edit_refusal_free(&refusal);
		assert_int_equal(edit.count, 0);
		edit.terms.force = true;
		assert_int_equal(take(&edit, wide[i], &refusal), 0);
		edit.terms = (struct xb_edit_terms){0};
		assert_int_equal(take(&edit, wide[i], &refusal), 0);
		assert_int_equal(edit.count, 2);
		xb_edit_free(&edit);
	}
}

TEST(named_twice)
{
	struct xb_edit edit = {.terms = {.add = true}};
	struct xb_edit_refusal refusal;

	assert_int_equal(take(&edit, "example.com", &refusal), 0);
	assert_int_equal(take(&edit, "192.0.2.1", &refusal), 0);
	assert_int_equal(xb_edit_check(&edit, &refusal), 0);
	assert_int_equal(take(&edit, "EXAMPLE.com", &refusal), 0);
	assert_int_equal(xb_edit_check(&edit, &refusal), XB_EDIT_REFUSED);
	assert_int_equal(refusal.why, XB_EDIT_REPEATED);
	assert_string_equal(text_of(&refusal.entry), "example.com");
	xb_edit_refusal_free(&refusal);
	edit.terms.exist = true;
	assert_int_equal(xb_edit_check(&edit, &refusal), 0);
	xb_edit_free(&edit);
}

/* Out of one list or of all; what it says of that lasts. */
TEST(del)
{
	struct xb_edit_result result = {.itemizes = true};
	struct xb_edit_refusal refusal;

	add((struct xb_edit_terms){0}, "192.0.2.1");
	add((struct xb_edit_terms){.list = "b"}, "192.0.2.1");
	add((struct xb_edit_terms){.list = "wide"}, "192.0.2.0/24");
	add((struct xb_edit_terms){.list = "wider"}, "192.0.0.0/16");
	assert_int_equal(
		edit_one((struct xb_edit_terms){.list = "b"}, "192.0.2.1", &result, &refusal), 0);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.item[0].lists.count, 1);
	assert_string_equal(result.item[0].lists.item[0].text, "b");
	is_in("192.0.2.1", false, "default", NULL);

	add((struct xb_edit_terms){.list = "b"}, "192.0.2.1");
	assert_int_equal(edit_one((struct xb_edit_terms){0}, "192.0.2.1", &result, &refusal), 0);
	is_in("192.0.2.1", false, NULL, NULL);
	assert_int_equal(result.removed, 1);
	assert_int_equal(result.item[0].lists.count, 2);
	assert_true(result.item[0].cover.found);
	assert_string_equal(text_of(&result.item[0].cover.entry), "192.0.2.0/24");
	assert_string_equal(result.item[0].cover.lists.item[0].text, "wide");

	assert_int_equal(
		edit_one((struct xb_edit_terms){.exist = true}, "192.0.2.1", &result, &refusal), 0);
	assert_int_equal(result.absent, 1);
	assert_int_equal(result.count, 0);
	xb_edit_result_free(&result);
}

/* Of what a del does not find: why. The caller frees the refusal. */
static enum xb_absence_kind absence_of(const char *text, const char *list,
				       struct xb_edit_refusal *refusal)
{
	struct xb_edit_result result = {0};

	assert_int_equal(edit_one((struct xb_edit_terms){.list = list}, text, &result, refusal),
			 XB_EDIT_REFUSED);
	assert_int_equal(refusal->why, XB_EDIT_ABSENT);
	return refusal->absence.kind;
}

TEST(del_finds_nothing)
{
	struct xb_edit_refusal refusal;

	add((struct xb_edit_terms){.list = "a"}, "192.0.2.0/24");
	add((struct xb_edit_terms){.list = "b"}, "198.51.100.1");
	add((struct xb_edit_terms){0}, "example.com");
	add((struct xb_edit_terms){0}, "=alone.example.net");

	assert_int_equal(absence_of("203.0.113.1", NULL, &refusal), XB_ABSENCE_ALL);
	xb_edit_refusal_free(&refusal);
	assert_int_equal(absence_of("192.0.2.7", NULL, &refusal), XB_ABSENCE_COVERED);
	assert_string_equal(text_of(&refusal.absence.cover.entry), "192.0.2.0/24");
	xb_edit_refusal_free(&refusal);
	assert_int_equal(absence_of("www.example.com", NULL, &refusal), XB_ABSENCE_COVERED);
	assert_string_equal(text_of(&refusal.absence.cover.entry), "example.com");
	xb_edit_refusal_free(&refusal);
	assert_int_equal(absence_of("198.51.100.1", "a", &refusal), XB_ABSENCE_ELSEWHERE);
	assert_string_equal(refusal.absence.lists.item[0].text, "b");
	xb_edit_refusal_free(&refusal);
	assert_int_equal(absence_of("alone.example.net", NULL, &refusal), XB_ABSENCE_TWIN);
	assert_string_equal(text_of(&refusal.absence.twin), "=alone.example.net");
	xb_edit_refusal_free(&refusal);
}

TEST(del_of_an_unknown_list)
{
	struct xb_edit_terms terms = {.list = "new"};
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;

	add((struct xb_edit_terms){0}, "192.0.2.1");
	assert_int_equal(edit_one(terms, "192.0.2.1", &result, &refusal), XB_EDIT_REFUSED);
	assert_int_equal(refusal.why, XB_EDIT_NO_LIST);
	assert_string_equal(refusal.list, "new");
	xb_edit_refusal_free(&refusal);
	terms.exist = true;
	assert_int_equal(edit_one(terms, "192.0.2.1", &result, &refusal), 0);
	assert_int_equal(result.absent, 1);
	is_in("192.0.2.1", false, "default", NULL);
}

/* It would come back with the next survey of the machine. */
TEST(what_the_machine_needs_stays)
{
	const struct xb_edit_terms out = {.allow = true};
	struct xb_membership member = {.comment = "default route", .comment_size = 13};
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put put;

	assert_int_equal(xb_entry_parse("192.0.2.1", 9, NULL, &entry, NULL), 0);
	entry = xb_entry_allow(&entry);
	assert_int_equal(xb_list_need_auto(writer.txn, "gateway", &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(writer.txn, &entry, &member, 0, &put), 0);
	assert_int_equal(edit_one(out, "192.0.2.1", &result, &refusal), XB_EDIT_REFUSED);
	assert_int_equal(refusal.why, XB_EDIT_AUTOMATIC);
	assert_string_equal(refusal.kind, "gateway");
	assert_memory_equal(refusal.reason, "default route", 13);
	xb_edit_refusal_free(&refusal);
	is_in("192.0.2.1", true, "auto:gateway", NULL);
}

TEST(what_the_allowlist_exempts)
{
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;

	add((struct xb_edit_terms){.allow = true, .list = "office"}, "192.0.2.0/24");
	assert_int_equal(
		edit_one((struct xb_edit_terms){.add = true}, "192.0.2.9", &result, &refusal), 0);
	assert_int_equal(result.exempt.count, 1);
	assert_string_equal(text_of(&result.exempt.allowed), "192.0.2.0/24");
	assert_string_equal(result.exempt.why, "list office");
}

EACH_TEST(open_writer, close_writer);
