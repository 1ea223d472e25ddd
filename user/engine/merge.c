/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File and store are in the same order, so neither is searched. */
#include "engine/merge.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/expiry.h"
#include "store/walk.h"

static int check_timeout(const struct xb_item *item, uint32_t now)
{
	uint32_t expires;

	return xb_expiry_after(now, item->timeout, &expires);
}

static int prefix_entry(int error, const struct xb_item *item)
{
	char text[XB_ENTRY_TEXT];

	return error ? xb_error_prefix(error, "%s", xb_entry_format(&item->entry, text)) : 0;
}

int xb_merge_check(const struct xb_merge *merge)
{
	const struct xb_listfile *file = merge->file;
	int error = 0;

	for (size_t i = 0; !error && !file->bare && i < file->count; i++)
		error = prefix_entry(check_timeout(&file->items[i], merge->now), &file->items[i]);
	return error;
}

static struct xb_membership membership_of(const struct xb_merge *merge, const struct xb_item *item)
{
	const char *comment = xb_listfile_comment(merge->file, item);

	return (struct xb_membership){
		.list = merge->list,
		.added = merge->now,
		.expires = item->timeout ? merge->now + item->timeout : 0,
		.comment = comment,
		.comment_size = (uint32_t)strlen(comment),
	};
}

static int put(struct xb_txn *txn, struct xb_merge *merge, const struct xb_item *item,
	       const struct xb_membership *member, unsigned int renew)
{
	enum xb_put put = XB_PUT_SAME;
	int error = check_timeout(item, merge->now);

	if (!error)
		error = xb_member_put(txn, &item->entry, member, renew, &put);
	merge->added += put == XB_PUT_LISTED || put == XB_PUT_JOINED;
	merge->renewed += put == XB_PUT_RENEWED;
	merge->unchanged += put == XB_PUT_SAME;
	return prefix_entry(error, item);
}

static void progress(const struct xb_merge *merge, size_t done)
{
	if (done % 65536 == 0 || done == merge->file->count)
		xb_progress("storing", done, merge->file->count);
}

int xb_merge_add(struct xb_txn *txn, struct xb_merge *merge)
{
	const struct xb_listfile *file = merge->file;
	int error = 0;

	for (size_t i = 0; !error && i < file->count; i++) {
		struct xb_item item = xb_listfile_at(file, i);
		struct xb_membership member = membership_of(merge, &item);

		error = put(txn, merge, &item, &member,
			    (member.expires ? XB_RENEW_EXPIRY : 0) |
				    (member.comment_size ? XB_RENEW_COMMENT : 0));
		progress(merge, i + 1);
	}
	return error;
}

/* Where both stand on one side, what is listed or the allowlist. */
struct place {
	struct xb_walk walk;
	int more;	     /* as of the walk */
	bool stale;	     /* the members of the walk's entry are to be read again */
	size_t at;	     /* in the file */
	struct xb_item item; /* there */
};

/* A walk's members are good until the store changes. */
static int refresh(struct xb_txn *txn, struct place *place)
{
	int error = place->stale ? xb_members_of(txn, &place->walk.entry, &place->walk.members) : 0;

	place->stale = false;
	return error;
}

static int step(struct place *place)
{
	place->more = xb_walk_next(&place->walk);
	place->stale = false;
	return place->more < 0 ? place->more : 0;
}

/* What only the store has. */
static int take_out(struct xb_txn *txn, struct xb_merge *merge, struct place *place)
{
	struct xb_membership member;
	enum xb_removal removal;
	int error = refresh(txn, place);

	if (error || !xb_members_have(place->walk.members, merge->list, &member))
		return error ? error : step(place);
	error = xb_member_remove(txn, &place->walk.entry, merge->list, &removal);
	merge->removed++;
	return error ? error : step(place);
}

/* What both have: as the file says. */
static int settle(struct xb_txn *txn, struct xb_merge *merge, struct place *place)
{
	const struct xb_item *item = &place->item;
	struct xb_membership member = membership_of(merge, item);
	unsigned int renew = XB_RENEW_EXPIRY | XB_RENEW_COMMENT;
	int error = check_timeout(item, merge->now);

	place->at++;
	if (error)
		return prefix_entry(error, item);
	error = refresh(txn, place);
	if (error)
		return error;
	if (xb_members_stay(place->walk.members, &member, renew))
		merge->unchanged++;
	else
		error = put(txn, merge, item, &member, renew);
	return error ? error : step(place);
}

static int add_new(struct xb_txn *txn, struct xb_merge *merge, struct place *place)
{
	const struct xb_item *item = &place->item;
	struct xb_membership member = membership_of(merge, item);

	place->at++;
	place->stale = true;
	return put(txn, merge, item, &member, 0);
}

static int merge_side(struct xb_txn *txn, struct xb_merge *merge, const struct xb_entry *side)
{
	const struct xb_listfile *file = merge->file;
	struct place place = {0};
	int error = xb_walk_begin(&place.walk, txn, side);

	if (error)
		return error;
	error = step(&place);
	while (!error && (place.more || place.at < file->count)) {
		const struct xb_entry *next = place.at < file->count ? &place.item.entry : NULL;
		int order;

		if (next)
			place.item = xb_listfile_at(file, place.at);
		if (next && xb_entry_is_allow(next) != xb_entry_is_allow(side)) {
			place.at++;
			continue;
		}
		order = !next ? 1 : !place.more ? -1 : xb_entry_compare(next, &place.walk.entry);
		error = order < 0   ? add_new(txn, merge, &place)
			: order > 0 ? take_out(txn, merge, &place)
				    : settle(txn, merge, &place);
		if (order <= 0)
			progress(merge, place.at);
	}
	xb_walk_end(&place.walk);
	return error;
}

int xb_merge_replace(struct xb_txn *txn, struct xb_merge *merge)
{
	int error = merge_side(txn, merge, &XB_WALK_LISTED);

	return error ? error : merge_side(txn, merge, &XB_WALK_ALLOW);
}
