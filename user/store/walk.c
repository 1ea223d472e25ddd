/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/walk.h"

#include <string.h>

#include "base/error.h"

/* The walk has a name of its own. */
static void keep_name(struct xb_walk *walk)
{
	if (!xb_entry_is_name(&walk->entry))
		return;
	memcpy(walk->name, walk->entry.name, walk->entry.length);
	walk->entry.name = walk->name;
}

/* Kinds of both sides alternate: where this side goes on behind a kind of the other. 0: nowhere. */
static uint8_t next_kind(bool allow, uint8_t kind)
{
	if (allow)
		return kind < XB_ALLOW4 ? XB_ALLOW4 : kind < XB_ALLOW_NAME ? XB_ALLOW_NAME : 0;
	return kind < XB_NAME ? XB_NAME : 0;
}

int xb_walk_begin(struct xb_walk *walk, struct xb_txn *txn, const struct xb_entry *from)
{
	*walk = (struct xb_walk){.txn = txn, .entry = *from, .allow = xb_entry_is_allow(from)};
	keep_name(walk);
	return xb_scan_begin(&walk->scan, txn);
}

int xb_walk_next(struct xb_walk *walk)
{
	const struct xb_leaf_reader *reader = &walk->scan.reader;
	uint8_t bytes[XB_ENTRY_KEY_BYTES];
	int more;

	if (walk->started)
		more = xb_scan_next(&walk->scan);
	else
		more = xb_scan_seek(&walk->scan, bytes, xb_entry_encode(&walk->entry, bytes));
	while (more > 0) {
		if (!xb_entry_decode(xb_leaf_key(reader), xb_leaf_key_size(reader), &walk->entry))
			return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
		if (xb_entry_is_allow(&walk->entry) == walk->allow)
			break;
		bytes[0] = next_kind(walk->allow, walk->entry.kind);
		if (!bytes[0])
			return 0;
		more = xb_scan_seek(&walk->scan, bytes, 1);
	}
	if (more <= 0)
		return more;
	walk->started = true;
	keep_name(walk);
	walk->members = xb_members_in(walk->txn, reader->value, reader->value_size);
	return 1;
}

void xb_walk_end(struct xb_walk *walk)
{
	xb_scan_end(&walk->scan);
}

/* Those of one kind, or with all that comes behind it. */
static int visit_from(struct xb_txn *txn, const struct xb_entry *from, bool inside,
		      int (*visit)(const struct xb_walk *walk, void *context), void *context)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, from);

	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) != 0) {
		if (more < 0)
			error = more;
		else if (inside &&
			 (walk.entry.kind != from->kind || !xb_entry_inside(from, &walk.entry)))
			break;
		else
			error = visit(&walk, context);
	}
	xb_walk_end(&walk);
	return error;
}

int xb_walk_visit(struct xb_txn *txn, const struct xb_entry *from, bool inside,
		  int (*visit)(const struct xb_walk *walk, void *context), void *context)
{
	struct xb_entry others = *from;
	int error = visit_from(txn, from, inside, visit, context);

	if (error || !inside || (from->kind != XB_PREFIX4 && from->kind != XB_NAME))
		return error;
	others.kind = from->kind == XB_NAME ? XB_EXCEPT_NAME : XB_HOST4;
	return visit_from(txn, &others, true, visit, context);
}

int xb_walk_finds_names(struct xb_txn *txn, const struct xb_list *list)
{
	struct xb_membership member;
	struct xb_walk walk;
	int more, error;

	if (!list->members || !txn->meta.totals.names)
		return 0;
	error = xb_walk_begin(&walk, txn, &XB_WALK_NAMES);
	if (error)
		return error;
	do
		more = xb_walk_next(&walk);
	while (more > 0 && !xb_members_have(walk.members, list->id, &member));
	xb_walk_end(&walk);
	return more;
}
