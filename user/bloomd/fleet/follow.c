/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each entry is checked on its own, so that what fits is applied however bad the next one is. */
#include "bloomd/fleet/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomd/fleet/logentry.h"
#include "store/expiry.h"
#include "store/lists.h"
#include "store/logtail.h"
#include "store/membership.h"

#define CHANGES_MOST 10000 /* in a write: the loop waits for it */

int follow_queue_add(struct follow_queue *queue, uint64_t position, const void *bytes, size_t size)
{
	struct follow_item *item;
	int error = xb_array_grow(&queue->item, &queue->room, queue->count + 1, sizeof(*item));

	if (error)
		return error;
	item = &queue->item[queue->count];
	*item = (struct follow_item){
		.position = position, .bytes = malloc(size ?: 1), .size = size};
	if (!item->bytes)
		return xb_out_of_memory();
	memcpy(item->bytes, bytes, size);
	queue->count++;
	return 0;
}

void follow_queue_clear(struct follow_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		free(queue->item[i].bytes);
	free(queue->item);
	*queue = (struct follow_queue){0};
}

static int take_out(struct xb_writer *writer, const struct xb_shared_change *change)
{
	const struct xb_list *list = xb_list_find(writer->txn, change->list);
	enum xb_removal removal;

	return list ? xb_member_remove(writer->txn, &change->entry, list->id, &removal) : 0;
}

static int put(struct xb_writer *writer, const struct xb_shared_change *change)
{
	struct xb_membership member = {.added = change->added,
				       .expires = change->expires,
				       .comment = change->comment,
				       .comment_size = change->comment_size};
	enum xb_put result;
	struct xb_list *list;
	int error;

	/* It may be here with a later time, which is over now. */
	if (change->expires && change->expires <= writer->now)
		return take_out(writer, change);
	error = xb_list_need(writer->txn, change->list, &list);
	if (error)
		return error;
	member.list = list->id;
	return xb_member_put(writer->txn, &change->entry, &member,
			     XB_RENEW_EXPIRY | XB_RENEW_COMMENT, &result);
}

static int apply_change(struct xb_writer *writer, struct follow *follow,
			const struct xb_shared_change *change, bool former)
{
	const struct xb_share *share = xb_share_of(writer->txn, change->list);
	int waits, error;

	if (!share)
		follow->foreign = true;
	/* What waits of a list that is not followed may be older, too. */
	waits = share ? xb_outbox_meets(writer->txn, change, former) : 0;
	if (waits < 0)
		return waits;
	if (!share || waits || !(share->flags & XB_SHARE_FOLLOW))
		return 0;
	error = writer->overdue ? xb_expiry_settle(writer->txn, &change->entry, writer->now,
						   &writer->expired)
				: 0;
	if (error)
		return error;
	return change->put ? put(writer, change) : take_out(writer, change);
}

/* Whether there are former entries at the position or behind it. */
static int look_for_former(struct xb_txn *txn, uint64_t position)
{
	uint64_t last;
	int error = xb_fleet_former_last(txn, &last);

	xb_outbox_misses(txn, last >= position);
	return error;
}

/* Own changes are applied, too: after a resync from an older snapshot they may be missing here. */
static int apply(struct xb_writer *writer, struct follow *follow, const struct xb_fleet *fleet,
		 uint64_t position, const struct logentry *entry)
{
	bool own = !memcmp(entry->publisher, fleet->host, XB_FLEET_ID);
	int former = xb_fleet_former_has(writer->txn, position, entry->chain);
	int error = former < 0 ? former : look_for_former(writer->txn, position);

	if (!error && own && entry->last)
		error = xb_outbox_published(writer->txn, &entry->changes, entry->last);
	for (size_t i = 0; !error && i < entry->changes.count; i++)
		error = apply_change(writer, follow, &entry->changes.item[i], former);
	follow->changes += entry->changes.count;
	if (!error && entry->last)
		error = xb_fleet_mark_raise(writer->txn, entry->publisher, entry->last);
	if (!error && former)
		error = xb_fleet_former_end(writer->txn, position, entry->chain);
	return error ? error : look_for_former(writer->txn, position + 1);
}

static void stop_bad(struct follow *follow, uint64_t position, bool forged, const char *why)
{
	follow->stop = FOLLOW_BAD;
	follow->forged = forged;
	snprintf(follow->why, sizeof(follow->why), "entry %llu of the log: %.200s",
		 (unsigned long long)position, why);
}

/* Whether a host of the fleet began a later epoch there; what begins one has nothing before it. */
static bool begins(const struct follow *follow, const struct xb_fleet *fleet,
		   const struct follow_item *item)
{
	static const uint8_t none[MAC_BYTES];
	struct logentry entry = {0};
	bool later = !logentry_read(item->bytes, item->size, &entry) &&
		     entry.kind == LOGENTRY_BEGIN && entry.term > fleet->term;

	logentry_free(&entry);
	return later &&
	       logentry_chains(item->bytes, item->size, follow->key, item->position, none) > 0;
}

/* Whether the entry is the next one of this epoch; otherwise says why not. The caller frees it. */
static bool fits(struct follow *follow, const struct xb_fleet *fleet,
		 const struct follow_item *item, struct logentry *entry)
{
	int chains =
		logentry_chains(item->bytes, item->size, follow->key, item->position, fleet->chain);

	if (logentry_read(item->bytes, item->size, entry) || chains < 0)
		stop_bad(follow, item->position, !chains, xb_error_message());
	else if (!chains && begins(follow, fleet, item))
		follow->stop = FOLLOW_BEGIN;
	else if (!chains || entry->term != fleet->term ||
		 memcmp(entry->epoch, fleet->epoch, XB_FLEET_ID) != 0)
		stop_bad(follow, item->position, true,
			 "it does not belong behind the one before, or another secret made it");
	return follow->stop == FOLLOW_ALL;
}

static int take(struct xb_writer *writer, struct follow *follow, struct xb_fleet *fleet,
		const struct follow_item *item)
{
	struct logentry entry = {0};
	int error;

	if (!fits(follow, fleet, item, &entry)) {
		logentry_free(&entry);
		return 0;
	}
	error = apply(writer, follow, fleet, item->position, &entry);
	if (!error)
		error = xb_logtail_append(writer->txn, fleet->term, item->position, item->bytes,
					  item->size);
	fleet->position = item->position;
	memcpy(fleet->chain, entry.chain, XB_FLEET_CHAIN);
	logentry_free(&entry);
	return error;
}

/* Where an epoch begins, the positions before may be missing. */
static int take_next(struct xb_writer *writer, struct follow *follow, struct xb_fleet *fleet,
		     const struct follow_item *item)
{
	if (follow->changes >= CHANGES_MOST)
		follow->stop = FOLLOW_MORE;
	else if (item->position == fleet->position + 1)
		return take(writer, follow, fleet, item);
	else
		follow->stop = begins(follow, fleet, item) ? FOLLOW_BEGIN : FOLLOW_GAP;
	return 0;
}

static int take_all(struct xb_writer *writer, struct follow *follow, struct xb_fleet *fleet)
{
	const struct follow_queue *queue = follow->queue;
	int error = 0;

	for (size_t i = queue->next; !error && i < queue->count; i++) {
		if (queue->item[i].position > fleet->position)
			error = take_next(writer, follow, fleet, &queue->item[i]);
		if (follow->stop != FOLLOW_ALL)
			break;
		follow->done++;
	}
	return error;
}

int follow_apply(struct xb_writer *writer, void *context)
{
	struct follow *follow = context;
	struct xb_fleet fleet;
	uint64_t before;
	int found = xb_fleet_get(writer->txn, &fleet), error;

	follow->done = 0;
	follow->stop = FOLLOW_ALL;
	follow->changes = 0;
	follow->foreign = false;
	if (found <= 0)
		return found ?: xb_input_error("this host is in no fleet");
	before = fleet.position;
	xb_fleet_applies(writer->txn, true);
	error = take_all(writer, follow, &fleet);
	xb_fleet_applies(writer->txn, false);
	return error || fleet.position == before ? error : xb_fleet_put(writer->txn, &fleet);
}
