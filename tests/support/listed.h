/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries and lists of a store as text: how tests put them there, and what they find. */
#ifndef XB_TEST_LISTED_H
#define XB_TEST_LISTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/walk.h"
#include "support/cmocka.h"
#include "support/entryof.h"

static inline struct xb_list *list_of(struct xb_txn *txn, const char *name)
{
	size_t automatic = strlen(XB_LIST_AUTO);
	struct xb_list *list;

	if (strncmp(name, XB_LIST_AUTO, automatic))
		assert_int_equal(xb_list_need(txn, name, &list), 0);
	else
		assert_int_equal(xb_list_need_auto(txn, name + automatic, &list), 0);
	return list;
}

/* Puts the entry into the list; expires 0: for ever; comment may be NULL; renew as xb_member_put()
 * takes it. */
static inline enum xb_put put_entry(struct xb_txn *txn, const char *text, const char *list,
				    uint32_t expires, const char *comment, unsigned int renew)
{
	struct xb_entry entry = entry_of(text);
	struct xb_membership member = {.list = list_of(txn, list)->id,
				       .added = 1,
				       .expires = expires,
				       .comment = comment,
				       .comment_size = comment ? (uint32_t)strlen(comment) : 0};
	enum xb_put result;

	assert_int_equal(xb_member_put(txn, &entry, &member, renew, &result), 0);
	return result;
}

static inline void list_with(struct xb_txn *txn, const char *text, const char *list,
			     uint32_t expires, const char *comment)
{
	put_entry(txn, text, list, expires, comment, 0);
}

static inline void list_entry(struct xb_txn *txn, const char *text, const char *list)
{
	list_with(txn, text, list, 0, NULL);
}

/* Enough for a few records, allowed ones in the last. */
static inline void list_many(struct xb_txn *txn)
{
	char text[64];

	for (unsigned int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "!10.%u.%u.1", i % 200, i / 200 * 7);
		list_entry(txn, text, "allow");
		list_entry(txn, text + 1, "default");
	}
}

/* "ENTRY LIST[ until TIME][ (COMMENT)] LIST...", as assert_store() finds it: puts the entry into
 * these lists. With `-` before it the entry leaves them, with `~` it is renewed in them. */
static inline void change_entry(struct xb_txn *txn, char *text)
{
	char how = strchr("-~", *text) ? *text++ : '+', *name = strsep(&text, " "), *list;

	while ((list = strsep(&text, " "))) {
		struct xb_entry entry = entry_of(name);
		const char *comment = NULL;
		uint32_t expires = 0;
		enum xb_removal removal;

		if (text && !strncmp(text, "until ", 6)) {
			strsep(&text, " ");
			expires = (uint32_t)strtoul(strsep(&text, " "), NULL, 10);
		}
		if (text && *text == '(') {
			comment = text + 1;
			strsep(&text, ")");
			strsep(&text, " ");
		}
		if (how == '-')
			assert_int_equal(
				xb_member_remove(txn, &entry, list_of(txn, list)->id, &removal), 0);
		else
			put_entry(txn, name, list, expires, comment,
				  how == '~' ? XB_RENEW_EXPIRY | XB_RENEW_COMMENT : 0);
	}
}

/* Some, in this order, with "; " between. */
static inline void change_lists(struct xb_txn *txn, const char *texts)
{
	char copy[2048], *rest = copy, *text;

	assert_true(strlen(texts) < sizeof(copy));
	strcpy(copy, texts);
	while ((text = strsep(&rest, ";")))
		change_entry(txn, text + strspn(text, " "));
}

struct listed_text {
	char text[2048];
	size_t used;
};

static inline void add_text(struct listed_text *out, const char *format, const char *text)
{
	out->used += (size_t)snprintf(out->text + out->used, sizeof(out->text) - out->used, format,
				      text);
	assert_true(out->used < sizeof(out->text));
}

static inline void add_entry(struct xb_txn *txn, const struct xb_entry *entry,
			     struct xb_members members, struct listed_text *out)
{
	struct xb_membership member;
	char text[XB_ENTRY_TEXT];

	add_text(out, "%s", out->used ? "; " : "");
	add_text(out, "%s", xb_entry_is_allow(entry) ? "!" : "");
	add_text(out, "%s", xb_entry_format(entry, text));
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		char number[16];

		add_text(out, " %s", list ? list->name : "?");
		if (member.expires) {
			snprintf(number, sizeof(number), "%u", member.expires);
			add_text(out, " until %s", number);
		}
		if (member.comment_size) {
			snprintf(text, sizeof(text), "%.*s", (int)member.comment_size,
				 member.comment);
			add_text(out, " (%s)", text);
		}
	}
}

static inline void add_walk(struct xb_txn *txn, const struct xb_entry *from,
			    struct listed_text *out)
{
	struct xb_walk walk;
	int more;

	assert_int_equal(xb_walk_begin(&walk, txn, from), 0);
	while ((more = xb_walk_next(&walk)) > 0)
		add_entry(txn, &walk.entry, walk.members, out);
	assert_int_equal(more, 0);
	xb_walk_end(&walk);
}

/* "ENTRY LIST[ until TIME][ (COMMENT)] LIST...; ENTRY...": what the walk from there finds. */
static inline void assert_walk(struct xb_txn *txn, struct xb_entry from, const char *expected)
{
	struct listed_text out = {0};

	add_walk(txn, &from, &out);
	assert_string_equal(out.text, expected);
}

/* All that is there: first what is listed. */
static inline void assert_store(struct xb_txn *txn, const char *expected)
{
	struct listed_text out = {0};

	add_walk(txn, &XB_WALK_LISTED, &out);
	add_walk(txn, &XB_WALK_ALLOW, &out);
	assert_string_equal(out.text, expected);
}

/* Writes other bytes into the record that has, or would have, the entry. */
static inline void damage_record_of(struct xb_txn *txn, const char *text)
{
	uint8_t bytes[] = "no seal", wanted[XB_ENTRY_KEY_BYTES], at[XB_LEAF_KEY_MAX];
	struct xb_entry entry = entry_of(text);
	size_t size = xb_entry_encode(&entry, wanted);
	MDB_val key = {size, wanted}, record, other = {sizeof(bytes), bytes};
	MDB_cursor *cursor;
	int error;

	assert_int_equal(mdb_cursor_open(txn->txn, txn->store->leaves, &cursor), 0);
	error = mdb_cursor_get(cursor, &key, &record, MDB_SET_RANGE);
	if (error || xb_leaf_compare(key.mv_data, key.mv_size, wanted, size))
		error = mdb_cursor_get(cursor, &key, &record, error ? MDB_LAST : MDB_PREV);
	assert_int_equal(error, 0);
	memcpy(at, key.mv_data, key.mv_size);
	key.mv_data = at;
	mdb_cursor_close(cursor);
	assert_int_equal(mdb_put(txn->txn, txn->store->leaves, &key, &other, 0), 0);
}

#endif
