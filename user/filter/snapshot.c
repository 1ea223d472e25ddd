/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One scan of the store. */
#include "filter/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "store/walk.h"

void xb_snapshot_free(struct xb_snapshot *snapshot)
{
	free(snapshot->host4);
	free(snapshot->net6);
	free(snapshot->prefix4);
	free(snapshot->allow);
	free(snapshot->names);
	free(snapshot->scoped);
	xb_arena_free(&snapshot->arena);
	*snapshot = (struct xb_snapshot){0};
}

static int allocate(struct xb_snapshot *snapshot, const struct xb_totals *totals)
{
	snapshot->host4 = malloc(totals->host4_keys * sizeof(*snapshot->host4) + 1);
	snapshot->net6 = malloc(totals->net6 * sizeof(*snapshot->net6) + 1);
	snapshot->prefix4 = malloc(totals->prefix4 * sizeof(*snapshot->prefix4) + 1);
	snapshot->allow = malloc(totals->allow * sizeof(*snapshot->allow) + 1);
	snapshot->names = malloc(totals->names * sizeof(*snapshot->names) + 1);
	return snapshot->host4 && snapshot->net6 && snapshot->prefix4 && snapshot->allow &&
			       snapshot->names
		       ? 0
		       : xb_out_of_memory();
}

static int take_scoped(struct xb_snapshot *snapshot, const struct xb_entry *entry, uint32_t classes)
{
	for (uint32_t class = 1; class < XB_CLASSES; class ++) {
		if (!(classes >> class & 1))
			continue;
		if (xb_array_grow(&snapshot->scoped, &snapshot->scoped_room,
				  snapshot->scoped_count + 1, sizeof(*snapshot->scoped)))
			return xb_out_of_memory();
		snapshot->scoped[snapshot->scoped_count++] =
			(struct xb_scoped){.entry = *entry, .class = class};
	}
	return 0;
}

/* Listed for all services. */
static void take_listed(struct xb_snapshot *snapshot, const struct xb_entry *entry)
{
	if (entry->kind == XB_PREFIX4)
		snapshot->prefix4[snapshot->prefix4_count++] = *entry;
	else if (entry->kind == XB_NET6)
		snapshot->net6[snapshot->net6_count++] = *entry;
	else
		for (uint32_t i = 0; i < xb_entry_keys(entry); i++)
			snapshot->host4[snapshot->host4_count++] = xb_entry_ipv4(entry) + i;
}

static int take(struct xb_snapshot *snapshot, const struct xb_walk *walk)
{
	struct xb_entry entry = walk->entry;
	uint32_t classes;

	if (xb_entry_is_name(&entry)) {
		entry.name = xb_arena_copy(&snapshot->arena, entry.name, entry.length);
		if (!entry.name)
			return -ENOMEM;
	}
	if (entry.kind == XB_NAME) {
		snapshot->names[snapshot->names_count++] = (struct xb_named){
			.entry = entry, .verdict = xb_members_verdict(walk->txn, walk->members)};
		return 0;
	}
	if (xb_entry_is_allow(&entry)) {
		snapshot->allow[snapshot->allow_count++] = entry;
		return 0;
	}
	classes = xb_members_classes(walk->txn, walk->members);
	if (classes & XB_CLASSES_ALL)
		take_listed(snapshot, &entry);
	return take_scoped(snapshot, &entry, classes);
}

/* Whether `seen` is no more than the totals say, so that there is room. */
static bool is_within(const struct xb_totals *seen, const struct xb_totals *totals)
{
	return seen->prefix4 <= totals->prefix4 && seen->host4_keys <= totals->host4_keys &&
	       seen->net6 <= totals->net6 && seen->names <= totals->names &&
	       seen->allow <= totals->allow;
}

/* *seen: what was counted so far. */
static int take_from(struct xb_txn *txn, const struct xb_entry *first, struct xb_snapshot *snapshot,
		     struct xb_totals *seen)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, first);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		xb_totals_count(seen, &walk.entry, 1);
		if (!is_within(seen, &txn->meta.totals)) {
			more = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
			break;
		}
		error = take(snapshot, &walk);
		if (error)
			break;
	}
	xb_walk_end(&walk);
	return error ? error : more;
}

int xb_snapshot_take(struct xb_txn *txn, struct xb_snapshot *snapshot)
{
	struct xb_totals seen = {0};
	int error;

	*snapshot = (struct xb_snapshot){0};
	snapshot->classes = xb_list_classes(txn, snapshot->class);
	error = allocate(snapshot, &txn->meta.totals);
	if (!error)
		error = take_from(txn, &XB_WALK_LISTED, snapshot, &seen);
	if (!error)
		error = take_from(txn, &XB_WALK_ALLOW, snapshot, &seen);
	if (!error && !is_within(&txn->meta.totals, &seen))
		error = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	if (error)
		xb_snapshot_free(snapshot);
	return error;
}
