/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a snapshot, by difference. Snapshot, store and uncovered changes are in the same order, so
 * none of them is searched; the outbox is, for what differs. */
#include "bloomd/fleet/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/former.h"
#include "bloomd/fleet/passed.h"
#include "bloomd/fleet/uncovered.h"
#include "engine/import.h"
#include "store/expiry.h"
#include "store/logtail.h"
#include "store/walk.h"

/* Seconds. Whoever was away for longer does not know what others have deleted meanwhile. */
#define AWAY_MOST 3600
#define BOTH	  (XB_SHARE_PUBLISH | XB_SHARE_FOLLOW)

struct take {
	struct xb_txn *txn;
	uint32_t now;
	const struct snapshot_terms *terms;
	struct snapshot_result *result;
	struct xb_fleet fleet;
	struct uncovered *uncovered;
	bool waits; /* something does in the outbox */
	bool known; /* this host has gone through the snapshot's place of the log */
	bool gives; /* what the snapshot lacks goes to the outbox */
};

/* --- one list --- */

struct merge {
	struct take *take;
	const struct xb_list *list; /* NULL: it is not followed */
	const char *name;
	bool joined;				/* the list was followed before */
	const struct uncovered_list *uncovered; /* NULL: nothing is */
	size_t passed;				/* of them */
	struct chunk_reader chunks;
	int puts; /* more of them; as of chunks_next() */
	struct xb_walk walk;
	int more;   /* as of the walk */
	bool stale; /* the members of the walk's entry are to be read again */
	uint64_t before, added, removed;
};

/* What waits again may be older than what the snapshot says of its entry, unless this host has gone
 * through that state, with this list. 1: it made way; 0: nothing did; negative: error. */
static int give_way(struct merge *merge, const struct xb_entry *entry, bool listed)
{
	struct take *take = merge->take;
	int found = take->waits && !(take->known && merge->joined)
			    ? xb_outbox_give_way(take->txn, merge->name, entry, listed)
			    : 0;

	merge->stale |= found > 0;
	return found;
}

/* The snapshot's put, to which something made way, is published again, unless the log has something
 * behind the snapshot: others may have had the delete. Returns as give_way(). */
static int give_way_to_put(struct merge *merge)
{
	struct take *take = merge->take;
	struct xb_shared_change put = merge->chunks.put;
	int found = give_way(merge, &put.entry, true);

	put.list = merge->name;
	if (found <= 0)
		return found;
	if ((xb_share_of(take->txn, put.list)->flags & BOTH) == BOTH)
		found = xb_outbox_put_again(take->txn, &put, XB_AGAIN_OLDER);
	return found < 0 ? found : 1;
}

/* What has expired since the snapshot was made is as if it were not there: but that may be so by
 * this host's clock alone. */
static int next_put(struct merge *merge)
{
	const struct xb_shared_change *put = &merge->chunks.put;
	int error = 0;

	do {
		merge->puts = chunks_next(&merge->chunks);
		if (merge->puts <= 0 || !put->expires || put->expires > merge->take->now)
			break;
		error = give_way_to_put(merge);
	} while (error >= 0);
	return merge->puts < 0 ? merge->puts : error < 0 ? error : 0;
}

static int step(struct merge *merge)
{
	merge->more = xb_walk_next(&merge->walk);
	merge->stale = false;
	return merge->more < 0 ? merge->more : 0;
}

/* A walk's members are good until the store changes. */
static int refresh(struct merge *merge)
{
	int error = merge->stale ? xb_members_of(merge->take->txn, &merge->walk.entry,
						 &merge->walk.members)
				 : 0;

	merge->stale = false;
	return error;
}

/* Whether the snapshot does not have the put that made the entry what it is here. */
static bool is_uncovered(struct merge *merge, const struct xb_entry *entry)
{
	const struct uncovered_list *list = merge->uncovered;
	int order = -1;

	while (list && merge->passed < list->count &&
	       (order = xb_entry_compare(&list->item[merge->passed].entry, entry)) < 0)
		merge->passed++;
	return !order && list->item[merge->passed].put;
}

/* Whether the entry stays as it is here: 1; 0: it does not; negative: error. Entries are asked for
 * in order. */
static int passes_by(struct merge *merge, const struct xb_entry *entry, bool here)
{
	struct take *take = merge->take;
	int passes = here && is_uncovered(merge, entry)
			     ? 1
			     : take->waits && xb_outbox_waits(take->txn, merge->name, entry);

	if (passes > 0)
		take->result->kept++;
	return passes;
}

static int put(struct merge *merge, unsigned int renew, bool here)
{
	const struct xb_shared_change *change = &merge->chunks.put;
	struct xb_membership member = {
		.list = merge->list->id,
		.added = change->added,
		.expires = change->expires,
		.comment = change->comment,
		.comment_size = change->comment_size,
	};
	int gives = give_way_to_put(merge),
	    passes = gives ? 0 : passes_by(merge, &change->entry, here), error;
	enum xb_put put;

	if (gives < 0 || passes)
		return gives < 0 ? gives : passes < 0 ? passes : 0;
	merge->stale = true;
	error = xb_member_put(merge->take->txn, &change->entry, &member, renew, &put);
	if (error)
		return error;
	merge->added += put != XB_PUT_RENEWED;
	merge->take->result->renewed += put == XB_PUT_RENEWED;
	return 0;
}

static int add_new(struct merge *merge)
{
	int error = put(merge, 0, false);

	return error ? error : next_put(merge);
}

/* It is not known whether the snapshot lacks the entry since its maker had not seen it, or since
 * somebody has deleted it. It stays listed, and so that all hosts have the same, it is published.
 */
static int give(struct merge *merge, const struct xb_entry *entry,
		const struct xb_membership *member)
{
	struct take *take = merge->take;
	const struct xb_shared_change change = {
		.entry = *entry,
		.list = merge->name,
		.put = true,
		.added = member->added,
		.expires = member->expires,
		.comment = member->comment,
		.comment_size = member->comment_size,
	};
	int found;

	if (!take->gives || !(xb_share_of(take->txn, change.list)->flags & XB_SHARE_PUBLISH))
		return 0;
	found = xb_outbox_put_again(take->txn, &change, XB_AGAIN_ANOTHERS);
	merge->stale = true;
	take->result->given += found > 0;
	return found < 0 ? found : 0;
}

/* What only the store has. */
static int take_out(struct merge *merge)
{
	const struct xb_entry *entry = &merge->walk.entry;
	struct xb_membership member;
	enum xb_removal removal;
	int error = give_way(merge, entry, false), passes;

	error = error < 0 ? error : refresh(merge);
	if (error || !xb_members_have(merge->walk.members, merge->list->id, &member) ||
	    !xb_entry_is_shared(entry))
		return error ? error : step(merge);
	/* By the clock of the maker it had expired. It does by this host's clock as well, by
	 * itself. */
	if (member.expires && member.expires <= merge->take->terms->manifest->time / 1000)
		return step(merge);
	merge->before++;
	passes = passes_by(merge, entry, true);
	if (passes < 0)
		return passes;
	if (!passes && merge->take->uncovered->partial)
		error = give(merge, entry, &member);
	if (error || passes || merge->take->uncovered->partial)
		return error ? error : step(merge);
	error = xb_member_remove(merge->take->txn, entry, merge->list->id, &removal);
	merge->removed++;
	return error ? error : step(merge);
}

/* Whether the snapshot has the entry end earlier. */
static bool is_shortened(const struct xb_membership *here, const struct xb_membership *there)
{
	return there->expires && (!here->expires || there->expires < here->expires);
}

/* What both have: as the snapshot says. But a time that it would shorten may have been lengthened
 * in the part of the log that is not known any more. */
static int settle(struct merge *merge)
{
	const struct xb_shared_change *change = &merge->chunks.put;
	struct xb_membership member = {.list = merge->list->id,
				       .expires = change->expires,
				       .comment = change->comment,
				       .comment_size = change->comment_size},
			     here;
	unsigned int renew = XB_RENEW_EXPIRY | XB_RENEW_COMMENT;
	int error = refresh(merge);
	bool has;

	if (error)
		return error;
	has = xb_members_have(merge->walk.members, merge->list->id, &here);
	merge->before += has;
	if (has && merge->take->uncovered->partial && is_shortened(&here, &member)) {
		merge->take->result->kept++;
		error = give(merge, &merge->walk.entry, &here);
	} else if (xb_members_stay(merge->walk.members, &member, renew))
		merge->take->result->unchanged++;
	else
		error = put(merge, renew, has);
	if (!error)
		error = next_put(merge);
	return error ? error : step(merge);
}

static int merge_all(struct merge *merge)
{
	int error = next_put(merge);

	if (!error)
		error = step(merge);
	while (!error && (merge->puts || merge->more)) {
		int order = !merge->puts   ? 1
			    : !merge->more ? -1
					   : xb_entry_compare(&merge->chunks.put.entry,
							      &merge->walk.entry);

		error = order < 0 ? add_new(merge) : order > 0 ? take_out(merge) : settle(merge);
	}
	return error;
}

static int merge_list(struct merge *merge, const struct manifest_list *list)
{
	const struct snapshot_terms *terms = merge->take->terms;
	int error = chunks_read(&merge->chunks, terms->chunks, terms->key, terms->manifest, list);

	if (error)
		return error;
	error = xb_walk_begin(&merge->walk, merge->take->txn, &XB_WALK_LISTED);
	if (!error) {
		error = merge_all(merge);
		xb_walk_end(&merge->walk);
	}
	chunks_close(&merge->chunks);
	return error;
}

/* Whether so much of the list would be taken out that an operator has to say yes. */
static bool loses_too_much(const struct merge *merge, double factor)
{
	double left = (double)(merge->before - merge->removed);

	if (factor <= 0 && merge->removed < XB_IMPORT_ENTRIES)
		return false;
	return left * (factor > 0 ? factor : XB_IMPORT_FACTOR) < (double)merge->before;
}

static bool is_held(const struct merge *merge, uint32_t flags)
{
	const struct snapshot_terms *terms = merge->take->terms;

	if (terms->accept || !merge->removed)
		return false;
	return !(flags & XB_SHARE_JOINED) || merge->before + merge->added == merge->removed ||
	       loses_too_much(merge, terms->factor);
}

static void hold(const struct merge *merge, struct snapshot_result *result)
{
	struct snapshot_shrink *shrink = &result->held[result->held_count++];

	result->outcome = SNAPSHOT_HELD;
	memcpy(shrink->list, merge->name, sizeof(shrink->list));
	shrink->before = merge->before;
	shrink->after = merge->before + merge->added - merge->removed;
	shrink->loses = merge->removed;
}

static int take_list(struct take *take, const struct manifest_list *list, uint32_t flags)
{
	struct merge merge = {.take = take,
			      .name = list->name,
			      .joined = flags & XB_SHARE_JOINED,
			      .uncovered = uncovered_of(take->uncovered, list->name)};
	struct snapshot_result *result = take->result;
	struct xb_list *here;
	int error = xb_list_need(take->txn, list->name, &here);

	if (error)
		return error;
	merge.list = here;
	error = merge_list(&merge, list);
	result->added += merge.added;
	result->removed += merge.removed;
	if (error)
		return error;
	if (is_held(&merge, flags)) {
		hold(&merge, result);
		return 0;
	}
	return xb_share_set(take->txn, list->name, flags | XB_SHARE_JOINED);
}

/* Of a list that is not followed here, what may be older than the snapshot's puts makes way. */
static int pass_by_list(struct take *take, const struct manifest_list *list)
{
	const struct snapshot_terms *terms = take->terms;
	struct merge merge = {.take = take, .name = list->name};
	int error = chunks_read(&merge.chunks, terms->chunks, terms->key, terms->manifest, list);

	if (error)
		return error;
	do {
		error = next_put(&merge);
		if (!error && merge.puts)
			error = give_way_to_put(&merge);
	} while (merge.puts > 0 && error >= 0);
	chunks_close(&merge.chunks);
	return error < 0 ? error : 0;
}

/* --- all of it --- */

/* Also behind one that is held: an operator is to see all of them. */
static int take_lists(struct take *take)
{
	const struct manifest *manifest = take->terms->manifest;
	int error = 0;

	for (size_t i = 0; !error && i < manifest->list_count; i++) {
		const struct manifest_list *list = &manifest->lists[i];
		const struct xb_share *share = xb_share_of(take->txn, list->name);

		if (share && share->flags & XB_SHARE_FOLLOW)
			error = take_list(take, list, share->flags);
		else if (share && take->waits)
			error = pass_by_list(take, list);
	}
	return error;
}

/* Marks of the host that are higher go back: what was behind them is not in this state. */
static int take_marks(struct take *take)
{
	const struct manifest *manifest = take->terms->manifest;
	struct xb_fleet_mark *marks = NULL;
	size_t count = 0;
	int error = xb_fleet_marks(take->txn, &marks, &count);

	for (size_t i = 0; !error && i < count; i++)
		error = xb_fleet_mark_set(take->txn, marks[i].publisher,
					  manifest_mark(manifest, marks[i].publisher));
	free(marks);
	for (size_t i = 0; !error && i < manifest->mark_count; i++)
		error = xb_fleet_mark_set(take->txn, manifest->marks[i].publisher,
					  manifest->marks[i].last);
	return error;
}

/* From now on the store's state is that of the snapshot: it goes on from there. */
static int move(struct take *take)
{
	const struct manifest *manifest = take->terms->manifest;
	struct xb_fleet fleet = take->fleet;
	int error = xb_fleet_lineage_put(take->txn, manifest->lineage, manifest->ancestors);

	if (!error)
		error = take_marks(take);
	if (!error)
		error = former_cut(take->txn, manifest->term, manifest->position);
	memcpy(fleet.epoch, manifest->epoch, sizeof(fleet.epoch));
	memcpy(fleet.chain, manifest->chain, sizeof(fleet.chain));
	fleet.term = manifest->term;
	fleet.position = manifest->position;
	return error ? error : xb_fleet_put(take->txn, &fleet);
}

/* What was published and is in the snapshot waits no more; what it lacks waits again. */
static int settle_outbox(struct take *take)
{
	uint64_t count, first, last;
	int error = uncovered_publish(take->txn, take->uncovered, take->now,
				      &take->result->republished);

	if (!error)
		error = xb_outbox_span(take->txn, &count, &first, &last);
	if (!error)
		take->waits = count;
	return error;
}

static int look_at_place(struct take *take)
{
	int passed = passed_place(take->txn, &take->fleet, take->terms->manifest, take->terms->key);

	take->known = passed > 0;
	return passed < 0 ? passed : 0;
}

static int take_all(struct take *take)
{
	const struct manifest *manifest = take->terms->manifest;
	int error = xb_outbox_forget(take->txn, manifest_mark(manifest, take->fleet.host));

	if (!error)
		error = uncovered_find(take->txn, &take->fleet, manifest, take->uncovered);
	if (!error)
		error = look_at_place(take);
	take->result->partial = take->uncovered->partial;
	take->gives = take->uncovered->newest / 1000 + AWAY_MOST > take->now;
	take->result->away = !take->gives;
	if (!error)
		error = settle_outbox(take);
	if (!error)
		error = take_lists(take);
	if (!error && take->result->outcome == SNAPSHOT_TAKEN)
		error = move(take);
	uncovered_free(take->uncovered);
	return error;
}

int snapshot_take(struct xb_writer *writer, const struct snapshot_terms *terms,
		  struct snapshot_result *result)
{
	struct take take = {
		.txn = writer->txn, .now = writer->now, .terms = terms, .result = result};
	int found = xb_fleet_get(writer->txn, &take.fleet), error;

	*result = (struct snapshot_result){.outcome = SNAPSHOT_TAKEN};
	if (found <= 0)
		return found ? found : xb_input_error("this host is in no fleet");
	/* Entries are looked at one by one: what has expired is out before. */
	error = xb_expiry_sweep(writer->txn, writer->now, NULL);
	if (error)
		return error;
	take.uncovered = calloc(1, sizeof(*take.uncovered));
	if (!take.uncovered)
		return xb_out_of_memory();
	xb_fleet_applies(writer->txn, true);
	error = take_all(&take);
	free(take.uncovered);
	return error;
}
