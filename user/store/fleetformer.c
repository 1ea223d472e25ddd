/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each entry is a record without content: its key has position and chain. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "store/fleet.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"

struct __attribute__((packed)) former_key {
	uint8_t kind;
	uint64_t position; /* big-endian */
	uint8_t chain[XB_FLEET_CHAIN];
};

static MDB_val key_of(uint64_t position, const uint8_t chain[XB_FLEET_CHAIN],
		      struct former_key *key)
{
	*key = (struct former_key){.kind = XB_FLEET_FORMER, .position = htobe64(position)};
	memcpy(key->chain, chain, XB_FLEET_CHAIN);
	return (MDB_val){sizeof(*key), key};
}

int xb_fleet_former_put(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN])
{
	struct former_key bytes;
	const MDB_val key = key_of(position, chain, &bytes), value = {0, &bytes};

	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

int xb_fleet_former_has(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN])
{
	struct former_key bytes;
	const MDB_val key = key_of(position, chain, &bytes);
	MDB_val value = {0};

	return xb_fleettables_are(txn) ? xb_sealedrow_get(txn, txn->store->fleet, &key, &value) : 0;
}

int xb_fleet_former_end(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN])
{
	struct former_key bytes;
	const MDB_val key = key_of(position, chain, &bytes);
	int found = xb_sealedrow_delete(txn, txn->store->fleet, &key);

	return found < 0 ? found : 0;
}

/* The record where the cursor goes, if it is one of these: 1; 0: none is there; or an error. */
static int go(MDB_cursor *cursor, MDB_cursor_op where, MDB_val *key)
{
	MDB_val value = {0};
	int more = xb_sealedrow_next(cursor, where, key, &value);

	if (more <= 0 || *(const uint8_t *)key->mv_data != XB_FLEET_FORMER)
		return more < 0 ? more : 0;
	return key->mv_size == sizeof(struct former_key) ? 1 : xb_fleet_damaged();
}

/* The last of them. */
static int go_to_last(MDB_cursor *cursor, MDB_val *key)
{
	uint8_t behind = XB_FLEET_FORMER + 1;
	MDB_val value = {0};
	int more;

	*key = (MDB_val){sizeof(behind), &behind};
	more = xb_sealedrow_next(cursor, MDB_SET_RANGE, key, &value);
	return more < 0 ? more : go(cursor, more ? MDB_PREV : MDB_LAST, key);
}

static int open_cursor(struct xb_txn *txn, MDB_cursor **cursor)
{
	int error = mdb_cursor_open(txn->txn, txn->store->fleet, cursor);

	return error ? xb_lmdb_error(error, "cannot read the store") : 0;
}

int xb_fleet_former_last(struct xb_txn *txn, uint64_t *position)
{
	MDB_cursor *cursor;
	MDB_val key = {0};
	int found;

	*position = 0;
	if (!xb_fleettables_are(txn))
		return 0;
	found = open_cursor(txn, &cursor);
	if (found)
		return found;
	found = go_to_last(cursor, &key);
	if (found > 0)
		*position = be64toh(((const struct former_key *)key.mv_data)->position);
	mdb_cursor_close(cursor);
	return found < 0 ? found : 0;
}

static int count_all(struct xb_txn *txn, size_t *count)
{
	uint8_t kind = XB_FLEET_FORMER;
	MDB_val key = {sizeof(kind), &kind};
	MDB_cursor *cursor;
	int found = open_cursor(txn, &cursor);

	*count = 0;
	if (found)
		return found;
	for (found = go(cursor, MDB_SET_RANGE, &key); found > 0; found = go(cursor, MDB_NEXT, &key))
		(*count)++;
	mdb_cursor_close(cursor);
	return found;
}

static int delete_first(struct xb_txn *txn)
{
	uint8_t kind = XB_FLEET_FORMER;
	MDB_val key = {sizeof(kind), &kind};
	struct former_key first;
	MDB_cursor *cursor;
	int found = open_cursor(txn, &cursor);

	if (found)
		return found;
	found = go(cursor, MDB_SET_RANGE, &key);
	if (found > 0)
		memcpy(&first, key.mv_data, sizeof(first));
	mdb_cursor_close(cursor);
	key = (MDB_val){sizeof(first), &first};
	if (found > 0)
		found = xb_sealedrow_delete(txn, txn->store->fleet, &key);
	return found < 0 ? found : 0;
}

int xb_fleet_former_trim(struct xb_txn *txn)
{
	size_t count = 0;
	int error = xb_fleettables_are(txn) ? count_all(txn, &count) : 0;

	for (; !error && count > XB_FLEET_FORMER_MOST; count--)
		error = delete_first(txn);
	return error;
}
