/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a snapshot: a walk over the store for each list. */
#include "bloomd/fleet/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/fleet/changecodec.h"
#include "bloomd/fleet/chunkfile.h"
#include "store/walk.h"

static int check_outbox(struct xb_txn *txn)
{
	uint64_t count, first, last;
	int error = xb_outbox_span(txn, &count, &first, &last);

	return error ? error : count ? -EAGAIN : 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int compare_marks(const void *a, const void *b)
{
	return memcmp(((const struct xb_fleet_mark *)a)->publisher,
		      ((const struct xb_fleet_mark *)b)->publisher, XB_FLEET_ID);
}

static int fill_marks(struct xb_txn *txn, struct manifest *manifest)
{
	int error = xb_fleet_marks(txn, &manifest->marks, &manifest->mark_count);

	if (!error && manifest->mark_count)
		qsort(manifest->marks, manifest->mark_count, sizeof(*manifest->marks),
		      compare_marks);
	return error;
}

/* The epoch that ends with this snapshot goes in front of those before it. */
static void end_epoch(const struct xb_fleet *fleet, struct manifest *manifest)
{
	struct xb_ancestor *lineage = manifest->lineage;

	manifest->term = fleet->term + 1;
	if (!fleet->term)
		return;
	if (manifest->ancestors == XB_LINEAGE_MAX)
		manifest->ancestors--;
	memmove(lineage + 1, lineage, manifest->ancestors * sizeof(*lineage));
	lineage[0] = (struct xb_ancestor){.term = fleet->term, .position = fleet->position};
	memcpy(lineage[0].epoch, fleet->epoch, sizeof(lineage[0].epoch));
	manifest->ancestors++;
}

static int fill_place(struct xb_txn *txn, const struct xb_fleet *fleet, bool begins,
		      struct manifest *manifest)
{
	int ancestors = xb_fleet_lineage_get(txn, manifest->lineage);

	if (ancestors < 0)
		return ancestors;
	manifest->ancestors = (size_t)ancestors;
	memcpy(manifest->maker, fleet->host, sizeof(manifest->maker));
	manifest->time = now_ms();
	if (begins) {
		end_epoch(fleet, manifest);
		return 0;
	}
	manifest->term = fleet->term;
	manifest->position = fleet->position;
	memcpy(manifest->epoch, fleet->epoch, sizeof(manifest->epoch));
	memcpy(manifest->chain, fleet->chain, sizeof(manifest->chain));
	return 0;
}

static void fill_lists(struct xb_txn *txn, struct manifest *manifest)
{
	const struct xb_share *shares = xb_shares(txn, &manifest->list_count);

	for (size_t i = 0; i < manifest->list_count; i++)
		memcpy(manifest->lists[i].name, shares[i].list, sizeof(shares[i].list));
}

static bool is_expired(const struct manifest *manifest, const struct xb_membership *member)
{
	return member->expires && member->expires <= manifest->time / 1000;
}

static int put(struct chunk_writer *writer, uint32_t list, const struct xb_entry *entry,
	       const struct xb_membership *member)
{
	const struct xb_shared_change change = {
		.entry = *entry,
		.put = true,
		.added = member->added,
		.expires = member->expires,
		.comment = member->comment,
		.comment_size = member->comment_size,
	};
	int error = change_check(&change);

	return error ? error : chunks_put(writer, list, &change);
}

static int put_members(struct chunk_writer *writer, struct xb_walk *walk, uint32_t place,
		       const struct xb_list *list)
{
	struct xb_membership member;
	uint64_t left = list->members;
	int error = 0, more = 1;

	while (!error && left && (more = xb_walk_next(walk)) > 0) {
		if (!xb_members_have(walk->members, list->id, &member))
			continue;
		left--;
		if (!is_expired(writer->manifest, &member) && xb_entry_is_shared(&walk->entry))
			error = put(writer, place, &walk->entry, &member);
	}
	return error ? error : more < 0 ? more : 0;
}

static int put_list(struct xb_txn *txn, struct chunk_writer *writer, uint32_t place)
{
	const struct xb_list *list = xb_list_find(txn, writer->manifest->lists[place].name);
	struct xb_walk walk;
	int error;

	if (!list || !list->members)
		return 0;
	error = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);
	if (error)
		return error;
	error = put_members(writer, &walk, place, list);
	xb_walk_end(&walk);
	return error;
}

static int make_chunks(struct xb_txn *txn, const struct mac_key *key, int chunks, int blooms,
		       struct manifest *manifest)
{
	struct chunk_writer writer;
	int error = chunks_write(&writer, chunks, blooms, key, manifest);

	for (uint32_t i = 0; !error && i < manifest->list_count; i++)
		error = put_list(txn, &writer, i);
	if (!error)
		error = chunks_finish(&writer);
	chunks_free(&writer);
	return error;
}

int snapshot_make(struct xb_txn *txn, const struct mac_key *key, bool begins, int chunks,
		  int blooms, struct manifest *manifest)
{
	struct xb_fleet fleet;
	int found = xb_fleet_get(txn, &fleet), error;

	*manifest = (struct manifest){0};
	if (found <= 0)
		return found ? found : xb_input_error("this host is in no fleet");
	error = begins ? 0 : check_outbox(txn);
	if (error)
		return error;
	if (getrandom(manifest->id, sizeof(manifest->id), 0) != sizeof(manifest->id))
		return xb_system_error(errno, "cannot get random numbers");
	error = fill_place(txn, &fleet, begins, manifest);
	if (!error)
		error = fill_marks(txn, manifest);
	if (error)
		return error;
	fill_lists(txn, manifest);
	return make_chunks(txn, key, chunks, blooms, manifest);
}
