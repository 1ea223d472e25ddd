/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/bogon.h"
#include "store/expiry.h"
#include "store/fleet.h"
#include "store/membership.h"
#include "store/walk.h"

static const char *list_of(const struct xb_edit_terms *terms)
{
	if (terms->list || !terms->add)
		return terms->list;
	return terms->allow ? XB_LIST_ALLOW : "default";
}

static int refuse(struct xb_edit_refusal *refusal, const struct xb_edit_terms *terms,
		  const struct xb_entry *entry, enum xb_edit_why why)
{
	*refusal = (struct xb_edit_refusal){.why = why, .list = list_of(terms)};
	if (entry)
		refusal->entry = *entry;
	return XB_EDIT_REFUSED;
}

void xb_edit_refusal_free(struct xb_edit_refusal *refusal)
{
	if (refusal->why == XB_EDIT_ABSENT)
		xb_absence_free(&refusal->absence);
}

/* What import leaves out must not be added by accident either. */
static int check_width(const struct xb_edit_terms *terms, const struct xb_entry *entry,
		       struct xb_edit_refusal *refusal)
{
	const char *reason = terms->add && !terms->force ? xb_too_wide(entry) : NULL;

	if (!reason)
		return 0;
	refuse(refusal, terms, entry, XB_EDIT_TOO_WIDE);
	refusal->reason = reason;
	refusal->reason_size = strlen(reason);
	return XB_EDIT_REFUSED;
}

int xb_edit_take(struct xb_edit *edit, const struct xb_entry *entry,
		 struct xb_edit_refusal *refusal)
{
	struct xb_entry taken = edit->terms.allow ? xb_entry_allow(entry) : *entry;
	int error = check_width(&edit->terms, entry, refusal);

	if (!error)
		error = xb_array_grow(&edit->entries, &edit->room, edit->count + 1,
				      sizeof(*edit->entries));
	if (!error && xb_entry_is_name(entry)) {
		taken.name = xb_arena_copy(&edit->names, entry->name, entry->length);
		error = taken.name ? 0 : -ENOMEM;
	}
	if (!error)
		edit->entries[edit->count++] = taken;
	return error;
}

int xb_edit_check(const struct xb_edit *edit, struct xb_edit_refusal *refusal)
{
	struct xb_entry *sorted;
	int error;

	if (edit->count < 2 || edit->terms.exist)
		return 0;
	sorted = xb_array_alloc(edit->count, sizeof(*sorted));
	if (!sorted)
		return xb_out_of_memory();
	memcpy(sorted, edit->entries, edit->count * sizeof(*sorted));
	error = xb_entry_sort(&sorted, edit->count, sizeof(*sorted));
	for (size_t i = 1; !error && i < edit->count; i++)
		if (!xb_entry_compare(&sorted[i - 1], &sorted[i]))
			error = refuse(refusal, &edit->terms, &sorted[i], XB_EDIT_REPEATED);
	free(sorted);
	return error;
}

void xb_edit_free(struct xb_edit *edit)
{
	free(edit->entries);
	xb_arena_free(&edit->names);
	edit->entries = NULL;
	edit->count = edit->room = 0;
}

void xb_edit_result_free(struct xb_edit_result *result)
{
	bool itemizes = result->itemizes;

	for (size_t i = 0; i < result->count; i++) {
		xb_list_names_free(&result->item[i].lists);
		xb_cover_free(&result->item[i].cover);
	}
	free(result->item);
	free(result->inside);
	xb_arena_free(&result->inside_names);
	memset(result, 0, sizeof(*result));
	result->itemizes = itemizes;
}

static int apply_add(struct xb_writer *writer, const struct xb_edit_terms *terms,
		     const struct xb_entry *entry, struct xb_edit_result *result,
		     struct xb_edit_refusal *refusal)
{
	struct xb_membership member = {
		.list = terms->id,
		.added = writer->now,
		.comment = terms->comment,
		.comment_size = terms->comment ? (uint32_t)strlen(terms->comment) : 0,
	};
	unsigned int given = (terms->timeout || terms->lasts ? XB_RENEW_EXPIRY : 0) |
			     (terms->comment ? XB_RENEW_COMMENT : 0);
	enum xb_put put;
	int error = xb_expiry_after(writer->now, terms->timeout, &member.expires);

	if (!error)
		error = xb_member_put(writer->txn, entry, &member, terms->exist ? given : 0, &put);
	if (error)
		return error;
	if (put == XB_PUT_SAME && !terms->exist)
		return refuse(refusal, terms, entry, XB_EDIT_LISTED);
	result->added += put == XB_PUT_LISTED || put == XB_PUT_JOINED;
	result->renewed += put == XB_PUT_RENEWED;
	result->unchanged += put == XB_PUT_SAME;
	return 0;
}

/* What the machine needs would come back; it can only be refused as a kind. */
static int check_automatic(struct xb_txn *txn, const struct xb_edit_terms *terms,
			   const struct xb_entry *entry, struct xb_edit_refusal *refusal)
{
	struct xb_membership member;
	struct xb_members members;

	if (!terms->allow || terms->list || xb_members_of(txn, entry, &members))
		return 0;
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || !xb_list_is_auto(list))
			continue;
		refuse(refusal, terms, entry, XB_EDIT_AUTOMATIC);
		refusal->kind = list->name + strlen(XB_LIST_AUTO);
		refusal->reason = member.comment;
		refusal->reason_size = member.comment_size;
		return XB_EDIT_REFUSED;
	}
	return 0;
}

static int refuse_absent(struct xb_txn *txn, const struct xb_edit_terms *terms,
			 const struct xb_entry *entry, struct xb_edit_refusal *refusal)
{
	int error;

	refuse(refusal, terms, entry, XB_EDIT_ABSENT);
	error = xb_absence_find(txn, entry, terms->list, &refusal->absence);
	if (error)
		xb_absence_free(&refusal->absence);
	return error ? error : XB_EDIT_REFUSED;
}

/* Before the entry goes: where it is. */
static int begin_item(struct xb_txn *txn, const struct xb_edit_terms *terms,
		      const struct xb_entry *entry, struct xb_edit_result *result)
{
	struct xb_edit_removed *item;
	struct xb_members members;
	int error;

	if (xb_array_grow(&result->item, &result->room, result->count + 1, sizeof(*item)))
		return -ENOMEM;
	item = &result->item[result->count++];
	*item = (struct xb_edit_removed){.entry = entry};
	error = xb_members_of(txn, entry, &members);
	if (error)
		return error == -ENOENT ? 0 : error;
	return xb_list_names_of(txn, members, terms->id, &item->lists);
}

/* After it went: what it leaves. */
static int end_item(struct xb_txn *txn, struct xb_edit_result *result, bool removed)
{
	struct xb_edit_removed *item = &result->item[result->count - 1];

	if (!removed) {
		xb_list_names_free(&item->lists);
		result->count--;
		return 0;
	}
	return xb_cover_find(txn, item->entry, &item->cover);
}

/* A del from every list: none of those that have the entry may follow a fleet. */
static int check_lists(struct xb_txn *txn, const struct xb_entry *entry)
{
	struct xb_membership member;
	struct xb_members members;
	int error = txn->shares.count ? xb_members_of(txn, entry, &members) : -ENOENT;

	while (!error && xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list)
			error = xb_share_check_ours(txn, list->name);
	}
	return error == -ENOENT ? 0 : error;
}

static int apply_del(struct xb_writer *writer, const struct xb_edit_terms *terms,
		     const struct xb_entry *entry, struct xb_edit_result *result,
		     struct xb_edit_refusal *refusal)
{
	enum xb_removal removal = XB_REMOVAL_ABSENT;
	int error = check_automatic(writer->txn, terms, entry, refusal);

	if (!error && terms->id == XB_ANY_LIST && !terms->allow)
		error = check_lists(writer->txn, entry);
	if (error)
		return error;
	if (result->itemizes)
		error = begin_item(writer->txn, terms, entry, result);
	if (!error)
		error = xb_member_remove(writer->txn, entry, terms->id, &removal);
	if (!error && result->itemizes)
		error = end_item(writer->txn, result, removal != XB_REMOVAL_ABSENT);
	if (error)
		return error;
	if (removal == XB_REMOVAL_ABSENT && !terms->exist)
		return refuse_absent(writer->txn, terms, entry, refusal);
	result->absent += removal == XB_REMOVAL_ABSENT;
	result->removed += removal != XB_REMOVAL_ABSENT;
	return 0;
}

struct gathering {
	struct xb_edit_result *result;
	uint32_t list;
};

static int gather_one(const struct xb_walk *walk, void *context)
{
	struct gathering *gathering = context;
	struct xb_edit_result *result = gathering->result;
	struct xb_entry entry = walk->entry;
	struct xb_membership member;

	if (gathering->list != XB_ANY_LIST &&
	    !xb_members_have(walk->members, gathering->list, &member))
		return 0;
	if (xb_entry_is_name(&entry)) {
		entry.name = xb_arena_copy(&result->inside_names, entry.name, entry.length);
		if (!entry.name)
			return -ENOMEM;
	}
	if (xb_array_grow(&result->inside, &result->inside_room, result->inside_count + 1,
			  sizeof(entry)))
		return -ENOMEM;
	result->inside[result->inside_count++] = entry;
	return 0;
}

/* First all are found, then they go: a walk does not go on behind what it removes. */
static int del_within(struct xb_writer *writer, const struct xb_edit_terms *terms,
		      const struct xb_entry *entry, struct xb_edit_result *result,
		      struct xb_edit_refusal *refusal)
{
	struct gathering gathering = {result, terms->id};
	int error;

	xb_arena_free(&result->inside_names);
	result->inside_count = 0;
	error = xb_walk_visit(writer->txn, entry, true, gather_one, &gathering);
	for (size_t i = 0; !error && i < result->inside_count; i++)
		error = apply_del(writer, terms, &result->inside[i], result, refusal);
	if (!error && !result->inside_count && !terms->exist)
		error = refuse(refusal, terms, entry, XB_EDIT_VOID);
	return error;
}

int xb_edit_begin(struct xb_writer *writer, struct xb_edit_terms *terms,
		  struct xb_edit_refusal *refusal)
{
	struct xb_list *list = NULL;
	int error = 0;

	terms->id = XB_ANY_LIST;
	if (terms->add)
		error = xb_list_need(writer->txn, list_of(terms), &list);
	else if (terms->list)
		list = xb_list_by_name(writer->txn, terms->list);
	if (!error && !terms->allow && list_of(terms))
		error = xb_share_check_ours(writer->txn, list_of(terms));
	if (error)
		return error;
	if (!list && terms->list && !terms->exist)
		return refuse(refusal, terms, NULL, XB_EDIT_NO_LIST);
	if (list)
		terms->id = list->id;
	else if (terms->list)
		terms->id = XB_NO_LIST;
	return 0;
}

int xb_edit_apply(struct xb_writer *writer, const struct xb_edit_terms *terms,
		  const struct xb_entry *entry, struct xb_edit_result *result,
		  struct xb_edit_refusal *refusal)
{
	if (terms->within)
		return del_within(writer, terms, entry, result, refusal);
	return terms->add ? apply_add(writer, terms, entry, result, refusal)
			  : apply_del(writer, terms, entry, result, refusal);
}

int xb_edit_all(struct xb_writer *writer, struct xb_edit *edit, struct xb_edit_result *result,
		struct xb_edit_refusal *refusal)
{
	int error;

	xb_edit_result_free(result);
	error = xb_edit_begin(writer, &edit->terms, refusal);
	for (size_t i = 0; !error && i < edit->count; i++)
		error = xb_edit_apply(writer, &edit->terms, &edit->entries[i], result, refusal);
	for (size_t i = 0; !error && edit->terms.add && i < edit->count; i++)
		if (!xb_entry_is_allow(&edit->entries[i]))
			error = xb_exempt_entry(writer->txn, &edit->entries[i], &result->exempt);
	return error;
}
