/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of this host are walked over in the ranges that the chunks have. A range whose digest
 * is that of its chunk has no difference; nor has one, but for what its Bloom digest says, whose
 * digest is that of the chunk without what surely is not in it. So nothing depends on the Bloom
 * digest being true: if it lies, the chunk is loaded.
 */
#include "bloomd/fleet/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomd/fleet/chunkbloom.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/uncovered.h"
#include "store/walk.h"

struct compare {
	struct xb_txn *txn;
	const struct snapshot_parts *parts;
	const struct mac_key *key;
	struct comparison *out;
	struct uncovered *uncovered;
	uint32_t made;	 /* seconds since 1970: what had expired by then is not in the snapshot */
	uint32_t expiry; /* what has expired by then is on neither side */
	bool waits;	 /* something does in the outbox */

	/* The present list. */
	struct compared_list *list;
	const struct xb_list *here; /* NULL: nothing is in it */
	const struct uncovered_list *passing;
	size_t passed; /* of them */
	struct xb_walk walk;
	int more; /* as of the walk: */
	struct xb_membership member;
	struct chunk_reader reader;
	off_t bloom_at; /* of the present chunk */
};

void comparison_free(struct comparison *comparison)
{
	free(comparison->item);
	comparison->item = NULL;
	comparison->count = comparison->room = 0;
	xb_arena_free(&comparison->bytes);
}

uint64_t comparison_total(const struct comparison *comparison)
{
	uint64_t total = 0;

	for (size_t i = 0; i < comparison->list_count; i++) {
		const struct compared_list *list = &comparison->list[i];

		total += list->missing + list->extra + list->changed;
	}
	return total;
}

static bool is_expired(uint32_t expires, uint32_t by)
{
	return expires && expires <= by;
}

/* --- a difference --- */

/* What the log says of the entry behind the snapshot; NULL: nothing. */
static const struct uncovered_change *change_of(struct compare *compare,
						const struct xb_entry *entry)
{
	const struct uncovered_list *list = compare->passing;
	int order = -1;

	while (list && compare->passed < list->count &&
	       (order = xb_entry_compare(&list->item[compare->passed].entry, entry)) < 0)
		compare->passed++;
	return order ? NULL : &list->item[compare->passed];
}

/* Whether it is here as the log says. */
static bool is_of_log(struct compare *compare, const struct xb_entry *entry,
		      const struct xb_membership *here)
{
	const struct uncovered_change *change = change_of(compare, entry);

	if (!change)
		return false;
	if (here)
		return change->put && change->expires == here->expires;
	return !change->put || is_expired(change->expires, compare->expiry);
}

/* Whether this host knows why: 1; 0: it does not; negative: error. Asked for in store order. */
static int is_explained(struct compare *compare, const struct xb_entry *entry,
			const struct xb_membership *here)
{
	int waits = compare->waits ? xb_outbox_waits(compare->txn, compare->list->name, entry) : 0;
	bool of_log = is_of_log(compare, entry, here);

	if (waits < 0)
		return waits;
	compare->list->of_outbox += waits > 0;
	compare->list->of_log += !waits && of_log;
	return waits || of_log;
}

static void count(struct compared_list *list, enum difference_kind kind)
{
	list->missing += kind == DIFFERENCE_MISSING;
	list->extra += kind == DIFFERENCE_EXTRA;
	list->changed += kind == DIFFERENCE_CHANGED;
}

static int keep_comment(struct comparison *out, struct difference_side *side)
{
	if (side->comment_size)
		side->comment = xb_arena_copy(&out->bytes, side->comment, side->comment_size);
	return side->comment_size && !side->comment ? -EIO : 0;
}

static int keep(struct comparison *out, const struct difference *difference)
{
	struct difference kept = *difference;
	struct xb_entry *entry = &kept.entry;
	int error = xb_array_grow(&out->item, &out->room, out->count + 1, sizeof(kept));

	if (!error && xb_entry_is_name(entry)) {
		entry->name = xb_arena_copy(&out->bytes, entry->name, entry->length);
		error = entry->name ? 0 : -EIO;
	}
	if (!error)
		error = keep_comment(out, &kept.here);
	if (!error)
		error = keep_comment(out, &kept.there);
	if (!error)
		out->item[out->count++] = kept;
	return error;
}

/* NULL: that side does not have it. */
static int differ(struct compare *compare, const struct xb_entry *entry,
		  const struct xb_membership *here, const struct xb_shared_change *there)
{
	struct comparison *out = compare->out;
	struct difference difference = {.entry = *entry};
	int explained;

	/* It is found again when all parts are there. */
	if (out->unfinished)
		return 0;
	explained = is_explained(compare, entry, here);
	if (explained)
		return explained < 0 ? explained : 0;
	difference.kind = !here	   ? DIFFERENCE_MISSING
			  : !there ? DIFFERENCE_EXTRA
				   : DIFFERENCE_CHANGED;
	count(compare->list, difference.kind);
	if (out->count >= out->limit)
		return 0;
	memcpy(difference.list, compare->list->name, sizeof(difference.list));
	if (here)
		difference.here =
			(struct difference_side){here->expires, here->comment_size, here->comment};
	if (there)
		difference.there = (struct difference_side){there->expires, there->comment_size,
							    there->comment};
	return keep(out, &difference);
}

/* --- the walk over what this host has --- */

/* To the next entry that the list has. */
static int step(struct compare *compare)
{
	do
		compare->more = xb_walk_next(&compare->walk);
	while (compare->more > 0 &&
	       (!xb_entry_is_shared(&compare->walk.entry) ||
		!xb_members_have(compare->walk.members, compare->here->id, &compare->member)));
	return compare->more < 0 ? compare->more : 0;
}

/* Whether the walk is at an entry of the range before the chunk `next`; NULL: of the last one. */
static bool is_within(const struct compare *compare, const struct manifest_chunk *next)
{
	return compare->more > 0 &&
	       (!next || xb_entry_compare(&compare->walk.entry, &next->first) < 0);
}

static bool member_is_expired(const struct compare *compare)
{
	return is_expired(compare->member.expires, compare->expiry);
}

/* --- a range whose chunk is there --- */

static bool is_same(const struct xb_membership *here, const struct xb_shared_change *there)
{
	return here->expires == there->expires && here->comment_size == there->comment_size &&
	       !memcmp(here->comment ?: "", there->comment ?: "", here->comment_size);
}

/* What this host has in front of the put of the chunk, or, if there is none, in the whole range. */
static int pass_extra(struct compare *compare, const struct manifest_chunk *next,
		      const struct xb_shared_change *there)
{
	int error = 0;

	while (!error && is_within(compare, next) &&
	       (!there || xb_entry_compare(&compare->walk.entry, &there->entry) < 0)) {
		compare->list->here += !member_is_expired(compare);
		if (!member_is_expired(compare))
			error = differ(compare, &compare->walk.entry, &compare->member, NULL);
		if (!error)
			error = step(compare);
	}
	return error;
}

static int match(struct compare *compare, const struct xb_shared_change *there)
{
	bool expired = is_expired(there->expires, compare->expiry);
	int error = 0;

	if (compare->more <= 0 || xb_entry_compare(&compare->walk.entry, &there->entry) != 0)
		return expired ? 0 : differ(compare, &there->entry, NULL, there);
	compare->list->here += !member_is_expired(compare);
	if (!is_same(&compare->member, there) && !(expired && member_is_expired(compare)))
		error = differ(compare, &there->entry, &compare->member, there);
	return error ? error : step(compare);
}

static int compare_exactly(struct compare *compare, size_t place, const struct manifest_chunk *next)
{
	const struct xb_shared_change *there = &compare->reader.put;
	uint32_t left = compare->parts->manifest->chunks[place].count;
	int error = 0, more;

	for (chunks_seek(&compare->reader, place); !error && left; left--) {
		more = chunks_next(&compare->reader);
		error = more < 0 ? more : pass_extra(compare, next, there);
		if (!error)
			error = match(compare, there);
	}
	return error ? error : pass_extra(compare, next, NULL);
}

/* --- a range whose chunk is not there --- */

static int load_bloom(const struct compare *compare, size_t place, struct xb_filter **filter)
{
	uint32_t size = compare->parts->manifest->chunks[place].bloom_size;
	uint8_t *bytes = malloc(size);
	ssize_t got = bytes ? pread(compare->parts->blooms, bytes, size, compare->bloom_at) : 0;
	int error = !bytes ? xb_out_of_memory()
		    : got == (ssize_t)size
			    ? chunkbloom_read(compare->parts->manifest, place, compare->key, bytes,
					      size, filter)
			    : xb_system_error(got < 0 ? errno : 0,
					      "cannot read the parts of the snapshot");

	free(bytes);
	return error;
}

struct range {
	struct xb_digest digest; /* of what the chunk may have */
	uint64_t count;
};

/* filter: NULL: everything may be in the chunk. */
static int pass_range(struct compare *compare, const struct manifest_chunk *next,
		      const struct xb_filter *filter, struct range *range)
{
	const struct xb_membership *member = &compare->member;
	int error = 0;

	while (!error && is_within(compare, next)) {
		const struct xb_entry *entry = &compare->walk.entry;

		compare->list->here += !member_is_expired(compare);
		if (filter && chunkbloom_lacks(filter, entry)) {
			if (!member_is_expired(compare))
				error = differ(compare, entry, member, NULL);
		} else if (!is_expired(member->expires, compare->made)) {
			range->count++;
			xb_digest_count(&range->digest, entry, member->expires, member->comment,
					member->comment_size, 1);
		}
		if (!error)
			error = step(compare);
	}
	return error;
}

/* Where this host has no more than the chunk, the chunk has something that this host has not: then
 * a Bloom digest does not help. */
static void want(struct compare *compare, size_t place, const struct range *range)
{
	const struct snapshot_parts *parts = compare->parts;
	bool bloom = range->count > parts->manifest->chunks[place].count &&
		     !(parts->have[place] & PART_BLOOM);

	parts->wanted[place] |= bloom ? PART_BLOOM : PART_CHUNK;
	compare->out->unfinished = true;
}

static int compare_by_digest(struct compare *compare, size_t place,
			     const struct manifest_chunk *next)
{
	const struct manifest_chunk *chunk = &compare->parts->manifest->chunks[place];
	struct xb_filter *filter = NULL;
	struct range range = {0};
	int error = 0;

	if (compare->parts->have[place] & PART_BLOOM)
		error = load_bloom(compare, place, &filter);
	if (!error)
		error = pass_range(compare, next, filter, &range);
	if (!error &&
	    (range.count != chunk->count || !xb_digest_equals(&range.digest, &chunk->digest)))
		want(compare, place, &range);
	xb_filter_free(filter);
	return error;
}

/* --- a list --- */

static size_t first_chunk(struct compare *compare, uint32_t list)
{
	const struct manifest *manifest = compare->parts->manifest;
	size_t place = 0;

	compare->bloom_at = 0;
	for (; place < manifest->chunk_count && manifest->chunks[place].list < list; place++)
		compare->bloom_at += manifest->chunks[place].bloom_size;
	return place;
}

static int compare_chunks(struct compare *compare, const struct manifest_list *there)
{
	const struct manifest *manifest = compare->parts->manifest;
	uint32_t list = (uint32_t)(there - manifest->lists);
	size_t place = first_chunk(compare, list);
	int error = 0;

	for (; !error && place < manifest->chunk_count && manifest->chunks[place].list == list;
	     place++) {
		const struct manifest_chunk *next = &manifest->chunks[place + 1];

		if (place + 1 == manifest->chunk_count || next->list != list)
			next = NULL;
		error = compare->parts->have[place] & PART_CHUNK
				? compare_exactly(compare, place, next)
				: compare_by_digest(compare, place, next);
		compare->bloom_at += manifest->chunks[place].bloom_size;
	}
	return error;
}

/* A list that the snapshot does not have is empty there. */
static int compare_there(struct compare *compare, const struct manifest_list *there)
{
	int error;

	if (!there)
		return pass_extra(compare, NULL, NULL);
	error = chunks_read(&compare->reader, compare->parts->chunks, compare->key,
			    compare->parts->manifest, there);
	if (!error)
		error = compare_chunks(compare, there);
	chunks_close(&compare->reader);
	/* Of a list without chunks, or what is behind them: nothing, since the last has all. */
	return error ? error : pass_extra(compare, NULL, NULL);
}

static int compare_list(struct compare *compare, const char *name)
{
	const struct manifest_list *there = manifest_list_of(compare->parts->manifest, name);
	int error;

	compare->list = &compare->out->list[compare->out->list_count++];
	*compare->list = (struct compared_list){.there = there ? there->count : 0};
	memcpy(compare->list->name, name, strlen(name) + 1);
	compare->here = xb_list_find(compare->txn, name);
	compare->passing = uncovered_of(compare->uncovered, name);
	compare->passed = 0;
	compare->more = 0;
	if (!compare->here)
		return compare_there(compare, there);
	error = xb_walk_begin(&compare->walk, compare->txn, &XB_WALK_LISTED);
	if (error)
		return error;
	error = step(compare);
	if (!error)
		error = compare_there(compare, there);
	xb_walk_end(&compare->walk);
	return error;
}

/* --- all of it --- */

static int compare_lists(struct compare *compare)
{
	size_t count;
	const struct xb_share *shares = xb_shares(compare->txn, &count);
	int error = 0;

	for (size_t i = 0; !error && i < count; i++)
		if (shares[i].flags & XB_SHARE_FOLLOW)
			error = compare_list(compare, shares[i].list);
	return error;
}

static int prepare(struct compare *compare, uint32_t now)
{
	const struct manifest *manifest = compare->parts->manifest;
	uint64_t waiting = 0, first, last;
	struct xb_fleet fleet;
	int found = xb_fleet_get(compare->txn, &fleet), error;

	if (found <= 0)
		return found ? found : xb_input_error("this host is in no fleet");
	compare->made = (uint32_t)(manifest->time / 1000);
	compare->expiry = now > compare->made ? now : compare->made;
	compare->out->position = fleet.position;
	compare->out->behind = memcmp(fleet.epoch, manifest->epoch, XB_FLEET_ID) != 0 ||
			       fleet.position < manifest->position;
	error = xb_outbox_span(compare->txn, &waiting, &first, &last);
	compare->waits = waiting;
	if (!error)
		error = uncovered_find(compare->txn, &fleet, manifest, compare->uncovered);
	compare->out->partial = compare->uncovered->partial;
	return error;
}

int compare_with_snapshot(struct xb_txn *txn, uint32_t now, const struct snapshot_parts *parts,
			  const struct mac_key *key, struct comparison *comparison)
{
	struct compare compare = {.txn = txn, .parts = parts, .key = key, .out = comparison};
	size_t limit = comparison->limit;
	int error;

	memset(comparison, 0, sizeof(*comparison));
	comparison->limit = limit;
	compare.uncovered = calloc(1, sizeof(*compare.uncovered));
	if (!compare.uncovered)
		return xb_out_of_memory();
	error = prepare(&compare, now);
	if (!error)
		error = compare_lists(&compare);
	uncovered_free(compare.uncovered);
	free(compare.uncovered);
	return error;
}
