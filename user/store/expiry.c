/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/expiry.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "store/membership.h"

static int read_error(int error)
{
	return xb_lmdb_error(error, "cannot read the store");
}

int xb_expiry_after(uint32_t now, uint32_t seconds, uint32_t *expires)
{
	if (seconds > UINT32_MAX - now)
		return xb_input_error("a timeout of %" PRIu32 " seconds ends after 2106", seconds);
	*expires = seconds ? now + seconds : 0;
	return 0;
}

/* What stands in the expiry index: big-endian time, list, then the entry's key. */
struct expiry {
	uint32_t list;
	struct xb_entry entry;
	uint8_t key[2 * sizeof(uint32_t) + XB_ENTRY_KEY_BYTES]; /* which the entry's name is in */
};

/* The record where the cursor goes. 1: it has expired by now; 0: it has not, or there is none. */
static int next_expired(MDB_cursor *cursor, MDB_cursor_op where, uint32_t now,
			struct expiry *expiry)
{
	uint32_t order[2];
	MDB_val key = {0}, value = {0};
	int error = mdb_cursor_get(cursor, &key, &value, where);

	if (error == MDB_NOTFOUND)
		return 0;
	if (!error && (key.mv_size <= sizeof(order) || key.mv_size > sizeof(expiry->key)))
		error = MDB_CORRUPTED;
	if (error)
		return read_error(error);
	memcpy(expiry->key, key.mv_data, key.mv_size);
	memcpy(order, expiry->key, sizeof(order));
	if (be32toh(order[0]) > now)
		return 0;
	expiry->list = be32toh(order[1]);
	if (!xb_entry_decode(expiry->key + sizeof(order), key.mv_size - sizeof(order),
			     &expiry->entry))
		return read_error(MDB_CORRUPTED);
	return 1;
}

int xb_expiry_next(struct xb_txn *txn, uint32_t *when)
{
	struct expiry expiry = {0};
	MDB_cursor *cursor;
	int found, error = mdb_cursor_open(txn->txn, txn->store->expiry, &cursor);

	if (error)
		return read_error(error);
	found = next_expired(cursor, MDB_FIRST, UINT32_MAX, &expiry);
	mdb_cursor_close(cursor);
	if (found <= 0)
		return found ? found : -ENOENT;
	memcpy(when, expiry.key, sizeof(*when));
	*when = be32toh(*when);
	return 0;
}

/* A cursor is good until the transaction changes. */
static int first_expired(struct xb_txn *txn, uint32_t now, struct expiry *expiry)
{
	MDB_cursor *cursor;
	int found, error = mdb_cursor_open(txn->txn, txn->store->expiry, &cursor);

	if (error)
		return read_error(error);
	found = next_expired(cursor, MDB_FIRST, now, expiry);
	mdb_cursor_close(cursor);
	return found;
}

int xb_expiry_sweep_some(struct xb_txn *txn, uint32_t now, uint64_t most, uint64_t *count)
{
	struct expiry expiry = {0};
	int found = 0;

	*count = 0;
	while (*count < most && (found = first_expired(txn, now, &expiry)) > 0) {
		enum xb_removal result;
		int error = xb_member_expire(txn, &expiry.entry, expiry.list, &result);

		if (error)
			return error;
		if (result == XB_REMOVAL_ABSENT)
			return read_error(MDB_CORRUPTED);
		++*count;
	}
	return found < 0 ? found : 0;
}

int xb_expiry_sweep(struct xb_txn *txn, uint32_t now, uint64_t *count)
{
	uint64_t swept;

	return xb_expiry_sweep_some(txn, now, UINT64_MAX, count ? count : &swept);
}

/* -ENOENT: none of the entry's memberships has expired. */
static int expired_of(struct xb_txn *txn, const struct xb_entry *entry, uint32_t now,
		      struct xb_membership *member)
{
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	while (!error && xb_members_next(&members, member))
		if (member->expires && member->expires <= now)
			return 0;
	return error ? error : -ENOENT;
}

int xb_expiry_settle(struct xb_txn *txn, const struct xb_entry *entry, uint32_t now,
		     uint64_t *count)
{
	struct xb_membership member;
	enum xb_removal result;
	int error;

	while (!(error = expired_of(txn, entry, now, &member))) {
		error = xb_member_expire(txn, entry, member.list, &result);
		if (error)
			return error;
		++*count;
	}
	return error == -ENOENT ? 0 : error;
}

int xb_expiry_visit(struct xb_txn *txn, uint32_t now,
		    int (*visit)(struct xb_txn *txn, uint32_t list, const struct xb_entry *entry,
				 void *context),
		    void *context)
{
	struct expiry expiry = {0};
	MDB_cursor *cursor;
	int found, result = 0, error = mdb_cursor_open(txn->txn, txn->store->expiry, &cursor);

	if (error)
		return read_error(error);
	while (!result && (found = next_expired(cursor, MDB_NEXT, now, &expiry)) > 0)
		result = visit(txn, expiry.list, &expiry.entry, context);
	mdb_cursor_close(cursor);
	return result ? result : found;
}

/* Counts the membership off, and the entry with the first of those it had. */
static int overlook(struct xb_txn *txn, const struct expiry *expiry)
{
	struct xb_list *list = xb_list_by_id(txn, expiry->list);
	struct xb_membership first;
	struct xb_members members;
	int error = xb_members_of(txn, &expiry->entry, &members);

	if (error)
		return error == -ENOENT ? read_error(MDB_CORRUPTED) : error;
	if (list) {
		list->members--;
		list->exceptions -= expiry->entry.kind == XB_EXCEPT_NAME;
	}
	if (xb_members_any(members))
		return 0;
	members.as_of = 0;
	if (xb_members_next(&members, &first) && first.list == expiry->list)
		xb_totals_count(&txn->meta.totals, &expiry->entry, (uint64_t)-1);
	return 0;
}

int xb_expiry_overlook_some(struct xb_txn *txn, uint32_t now, uint64_t most, uint64_t *count)
{
	struct expiry expiry = {0};
	MDB_cursor *cursor;
	int found = 0, error = mdb_cursor_open(txn->txn, txn->store->expiry, &cursor);

	*count = 0;
	txn->as_of = now;
	if (error)
		return read_error(error);
	while (*count < most && (found = next_expired(cursor, MDB_NEXT, now, &expiry)) > 0) {
		error = overlook(txn, &expiry);
		if (error)
			break;
		++*count;
	}
	mdb_cursor_close(cursor);
	return error ? error : found < 0 ? found : 0;
}

int xb_expiry_overlook(struct xb_txn *txn, uint32_t now, uint64_t *count)
{
	return xb_expiry_overlook_some(txn, now, UINT64_MAX, count);
}
