/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sharing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "store/outbox.h"
#include "store/shares.h"

/* What became of a membership. */
struct xb_shared_event {
	struct xb_entry entry; /* first, for xb_entry_sort(); a name is in the arena */
	uint8_t share;	       /* its place */
	bool had, has;
	bool deletes;			/* set in settling: its net result is a delete */
	struct xb_digest before, after; /* of this membership alone, to compare them */
	uint32_t added, expires, comment_size;
	const char *comment; /* in the arena */
};

/* Of a membership alone; of none, zero. */
static struct xb_digest digest_of(const struct xb_entry *entry, const struct xb_membership *member)
{
	struct xb_digest digest = {0};

	if (member)
		xb_digest_count(&digest, entry, member->expires, member->comment,
				member->comment_size, 1);
	return digest;
}

/* Imported entries often have the comment of the one before. */
static const char *keep_comment(struct xb_shares *shares, const struct xb_membership *member)
{
	const struct xb_shared_event *last =
		shares->event_count ? &shares->event[shares->event_count - 1] : NULL;

	if (!member->comment_size)
		return "";
	if (last && last->comment_size == member->comment_size &&
	    !memcmp(last->comment, member->comment, member->comment_size))
		return last->comment;
	return xb_arena_copy(&shares->bytes, member->comment, member->comment_size);
}

static int keep(struct xb_shares *shares, struct xb_shared_event *event,
		const struct xb_membership *after)
{
	if (xb_array_grow(&shares->event, &shares->event_room, shares->event_count + 1,
			  sizeof(*event)))
		return xb_out_of_memory();
	if (after) {
		event->added = after->added;
		event->expires = after->expires;
		event->comment_size = after->comment_size;
		event->comment = keep_comment(shares, after);
		if (!event->comment)
			return -EIO;
	}
	if (xb_entry_is_name(&event->entry)) {
		event->entry.name =
			xb_arena_copy(&shares->bytes, event->entry.name, event->entry.length);
		if (!event->entry.name)
			return -EIO;
	}
	shares->event[shares->event_count++] = *event;
	return 0;
}

int xb_sharing_note(struct xb_txn *txn, struct xb_share *share, const struct xb_entry *entry,
		    const struct xb_membership *before, const struct xb_membership *after,
		    bool publishes)
{
	struct xb_shares *shares = &txn->shares;
	struct xb_shared_event event = {.entry = *entry,
					.share = (uint8_t)(share - shares->item),
					.had = before,
					.has = after};

	if (!xb_entry_is_shared(entry))
		return 0;
	event.before = digest_of(entry, before);
	event.after = digest_of(entry, after);
	xb_digest_add(&share->digest, &event.before, -1);
	xb_digest_add(&share->digest, &event.after, 1);
	xb_shares_touch(txn, share);
	if (!publishes || shares->applies || !(share->flags & XB_SHARE_PUBLISH))
		return 0;
	return keep(shares, &event, after);
}

static int publish(struct xb_txn *txn, const struct xb_shared_event *event)
{
	const struct xb_shared_change change = {
		.entry = event->entry,
		.list = txn->shares.item[event->share].list,
		.put = event->has,
		.added = event->added,
		.expires = event->expires,
		.comment = event->comment,
		.comment_size = event->comment_size,
	};

	return xb_outbox_put(txn, &change);
}

/* What comes of one entry in one list. */
static int settle_one(struct xb_txn *txn, const struct xb_shared_event *first,
		      struct xb_shared_event *last)
{
	if (last->has)
		return first->had && xb_digest_equals(&first->before, &last->after)
			       ? 0
			       : publish(txn, last);
	last->deletes = first->had;
	return 0;
}

/* All events of one entry: its puts go into the outbox, its deletes are marked. */
static int settle_entry(struct xb_txn *txn, size_t from, size_t to)
{
	struct xb_shared_event *event = txn->shares.event, *first[XB_SHARES_MAX] = {NULL},
			       *last[XB_SHARES_MAX] = {NULL};
	int error = 0;

	for (size_t i = from; i < to; i++) {
		uint8_t share = event[i].share;

		if (!first[share])
			first[share] = &event[i];
		last[share] = &event[i];
	}
	for (size_t share = 0; !error && share < txn->shares.count; share++)
		if (first[share])
			error = settle_one(txn, first[share], last[share]);
	return error;
}

static size_t end_of_entry(const struct xb_shares *shares, size_t from)
{
	size_t to = from + 1;

	while (to < shares->event_count &&
	       !xb_entry_compare(&shares->event[from].entry, &shares->event[to].entry))
		to++;
	return to;
}

static int settle_all(struct xb_txn *txn)
{
	struct xb_shares *shares = &txn->shares;
	int error = 0;

	for (size_t from = 0, to; !error && from < shares->event_count; from = to) {
		to = end_of_entry(shares, from);
		error = settle_entry(txn, from, to);
	}
	for (size_t i = 0; !error && i < shares->event_count; i++)
		if (shares->event[i].deletes)
			error = publish(txn, &shares->event[i]);
	return error;
}

int xb_sharing_settle(struct xb_txn *txn)
{
	struct xb_shares *shares = &txn->shares;
	int error;

	if (!shares->event_count)
		return 0;
	error = xb_entry_sort(&shares->event, shares->event_count, sizeof(*shares->event));
	shares->event_room = shares->event_count;
	if (!error)
		error = settle_all(txn);
	shares->event_count = 0;
	xb_arena_free(&shares->bytes);
	return error;
}
