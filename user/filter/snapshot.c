/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One scan of the store. */
#include "filter/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/walk.h"

void xb_snapshot_free(struct xb_snapshot *keys)
{
	free(keys->host4);
	free(keys->net6);
	free(keys->prefix4);
	free(keys->allow);
	free(keys->names);
	xb_arena_free(&keys->arena);
	*keys = (struct xb_snapshot){0};
}

static int allocate(struct xb_snapshot *keys, const struct xb_totals *totals)
{
	keys->host4 = malloc(totals->host4_keys * sizeof(*keys->host4) + 1);
	keys->net6 = malloc(totals->net6 * sizeof(*keys->net6) + 1);
	keys->prefix4 = malloc(totals->prefix4 * sizeof(*keys->prefix4) + 1);
	keys->allow = malloc(totals->allow * sizeof(*keys->allow) + 1);
	keys->names = malloc(totals->names * sizeof(*keys->names) + 1);
	return keys->host4 && keys->net6 && keys->prefix4 && keys->allow && keys->names
		       ? 0
		       : xb_out_of_memory();
}

static bool fits(const struct xb_snapshot *keys, const struct xb_totals *totals,
		 const struct xb_entry *entry)
{
	switch (entry->kind) {
	case XB_PREFIX4:
		return keys->prefix4_count < totals->prefix4;
	case XB_HOST4:
		return keys->host4_count + xb_entry_keys(entry) <= totals->host4_keys;
	case XB_NET6:
		return keys->net6_count < totals->net6;
	case XB_NAME:
		return keys->names_count < totals->names;
	default:
		return keys->allow_count < totals->allow;
	}
}

static int take(struct xb_snapshot *keys, const struct xb_walk *walk)
{
	struct xb_entry entry = walk->entry;

	if (xb_entry_is_name(&entry)) {
		entry.name = xb_arena_copy(&keys->arena, entry.name, entry.length);
		if (!entry.name)
			return -ENOMEM;
	}
	if (entry.kind == XB_PREFIX4)
		keys->prefix4[keys->prefix4_count++] = entry;
	else if (entry.kind == XB_NET6)
		keys->net6[keys->net6_count++] = entry;
	else if (entry.kind == XB_NAME)
		keys->names[keys->names_count++] = (struct xb_named){
			.entry = entry, .verdict = xb_members_verdict(walk->txn, walk->members)};
	else if (xb_entry_is_allow(&entry))
		keys->allow[keys->allow_count++] = entry;
	else
		for (uint32_t i = 0; i < xb_entry_keys(&entry); i++)
			keys->host4[keys->host4_count++] = xb_entry_ipv4(&entry) + i;
	return 0;
}

static int take_from(struct xb_txn *txn, const struct xb_entry *first, struct xb_snapshot *keys)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, first);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		if (!fits(keys, &txn->meta.totals, &walk.entry)) {
			more = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
			break;
		}
		error = take(keys, &walk);
		if (error)
			break;
	}
	xb_walk_end(&walk);
	return error ? error : more;
}

static bool is_all(const struct xb_snapshot *keys, const struct xb_totals *totals)
{
	return keys->prefix4_count == totals->prefix4 && keys->host4_count == totals->host4_keys &&
	       keys->net6_count == totals->net6 && keys->names_count == totals->names &&
	       keys->allow_count == totals->allow;
}

int xb_snapshot_take(struct xb_txn *txn, struct xb_snapshot *keys)
{
	int error;

	*keys = (struct xb_snapshot){0};
	error = allocate(keys, &txn->meta.totals);
	if (!error)
		error = take_from(txn, &XB_WALK_LISTED, keys);
	if (!error)
		error = take_from(txn, &XB_WALK_ALLOW, keys);
	if (!error && !is_all(keys, &txn->meta.totals))
		error = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	if (error)
		xb_snapshot_free(keys);
	return error;
}
