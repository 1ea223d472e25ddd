/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/flush.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/walk.h"

/* A list that the entry leaves, XB_NO_LIST: there is none (more). */
static int find_to_leave(struct xb_txn *txn, const struct xb_entry *entry, uint32_t *id)
{
	struct xb_membership member;
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	*id = XB_NO_LIST;
	while (!error && *id == XB_NO_LIST && xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || !list->share || xb_entry_is_allow(entry))
			*id = member.list;
	}
	return error == -ENOENT ? 0 : error;
}

static int leave_lists(struct xb_txn *txn, const struct xb_entry *entry)
{
	enum xb_removal removal;
	uint32_t id;
	int error;

	while (!(error = find_to_leave(txn, entry, &id)) && id != XB_NO_LIST) {
		error = xb_member_remove(txn, entry, id, &removal);
		if (error)
			break;
	}
	return error;
}

/* One by one, because some stay. */
static int flush_side(struct xb_txn *txn, const struct xb_entry *side)
{
	struct xb_walk walk;
	int more = 0, error = xb_walk_begin(&walk, txn, side);

	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0)
		error = leave_lists(txn, &walk.entry);
	xb_walk_end(&walk);
	return error ? error : more;
}

static int flush_unshared(struct xb_txn *txn)
{
	int error = flush_side(txn, &XB_WALK_LISTED);

	return error ? error : flush_side(txn, &XB_WALK_ALLOW);
}

int xb_flush_all(struct xb_txn *txn)
{
	int error;

	if (txn->shares.count)
		return flush_unshared(txn);
	error = xb_entries_remove_all(txn);
	if (error)
		return error;
	error = mdb_drop(txn->txn, txn->store->expiry, 0);
	if (error)
		return xb_lmdb_error(error, "cannot write the store");
	for (size_t i = 0; i < txn->list_count; i++) {
		txn->lists[i].went += (uint32_t)txn->lists[i].members;
		txn->lists[i].members = txn->lists[i].exceptions = 0;
		xb_list_changed(&txn->lists[i]);
	}
	txn->meta.totals = (struct xb_totals){0};
	xb_changes_set_bulk(&txn->change);
	return 0;
}

/* What stands in the store for one entry. */
struct kept {
	struct xb_entry entry;
	uint8_t *value;
	size_t size;
};

static int keep_allowed(struct xb_txn *txn, struct xb_arena *arena, struct kept *kept,
			size_t *count)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0 && *count < txn->meta.totals.allow) {
		struct kept *one = &kept[*count];

		one->entry = walk.entry;
		one->size = (size_t)(walk.members.end - walk.members.next);
		one->value = xb_arena_copy(arena, walk.members.next, one->size);
		if (one->value && xb_entry_is_name(&one->entry))
			one->entry.name = xb_arena_copy(arena, walk.entry.name, walk.entry.length);
		if (!one->value || (xb_entry_is_name(&one->entry) && !one->entry.name)) {
			more = -ENOMEM;
			break;
		}
		++*count;
	}
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

/* It has never gone, for whoever counts. */
static void forget_return(struct xb_txn *txn, uint32_t id)
{
	struct xb_list *list = xb_list_by_id(txn, id);

	if (list && list->came && list->went) {
		list->came--;
		list->went--;
	}
}

static int put_back(struct xb_txn *txn, const struct kept *kept)
{
	struct xb_members members = {.next = kept->value, .end = kept->value + kept->size};
	struct xb_membership member;
	int error = 0;

	while (!error && xb_members_next(&members, &member)) {
		enum xb_put put;

		error = xb_member_put(txn, &kept->entry, &member, 0, &put);
		forget_return(txn, member.list);
	}
	return error;
}

int xb_flush_listed(struct xb_txn *txn)
{
	struct kept *kept;
	struct xb_arena arena = {0};
	size_t count = 0;
	int error;

	if (txn->shares.count)
		return flush_side(txn, &XB_WALK_LISTED);
	kept = calloc(txn->meta.totals.allow + 1, sizeof(*kept));
	error = kept ? keep_allowed(txn, &arena, kept, &count) : xb_out_of_memory();

	if (!error)
		error = xb_flush_all(txn);
	for (size_t i = 0; !error && i < count; i++)
		error = put_back(txn, &kept[i]);
	xb_arena_free(&arena);
	free(kept);
	return error;
}

int xb_flush_list(struct xb_txn *txn, uint32_t list, uint64_t *count)
{
	struct xb_membership member;
	enum xb_removal removal;
	struct xb_walk walk;
	int more = 0, error = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);

	*count = 0;
	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0) {
		if (!xb_members_have(walk.members, list, &member))
			continue;
		error = xb_member_remove(txn, &walk.entry, list, &removal);
		++*count;
	}
	xb_walk_end(&walk);
	return error ? error : more;
}
