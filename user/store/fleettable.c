/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A handle of a table is the process's once the transaction that opened it is committed. So tables
 * that are there are opened by a transaction of their own, and handles of tables that a transaction
 * makes are forgotten if it is given up. */
#include "store/fleettable.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/checksum.h"
#include "store/latest.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"

static int read_error(int error)
{
	return xb_lmdb_error(error, "cannot read the store");
}

static int write_error(int error)
{
	return xb_lmdb_error(error, "cannot write the store");
}

int xb_fleet_damaged(void)
{
	return read_error(MDB_CORRUPTED);
}

int xb_fleet_none(void)
{
	return xb_input_error("this host is in no fleet");
}

static int open_all(struct xb_store *store, MDB_txn *txn, unsigned int flags)
{
	int error = xb_lmdbpage_open(txn, "fleet", flags, &store->fleet);

	if (!error)
		error = xb_lmdbpage_open(txn, "outbox", flags, &store->outbox);
	if (!error)
		error = xb_lmdbpage_open(txn, "waiting", flags, &store->waiting);
	if (!error)
		error = xb_lmdbpage_open(txn, "tail", flags, &store->tail);
	return error;
}

int xb_fleettables_open(struct xb_store *store)
{
	MDB_txn *txn;
	int error = xb_latest_begin(store->env, MDB_RDONLY, &txn);

	if (error)
		return read_error(error);
	error = open_all(store, txn, 0);
	if (error) {
		mdb_txn_abort(txn);
		return read_error(error == MDB_NOTFOUND ? MDB_CORRUPTED : error);
	}
	error = mdb_txn_commit(txn);
	store->has_fleet = !error;
	return error ? read_error(error) : 0;
}

int xb_fleettables_make(struct xb_txn *txn)
{
	int error;

	if (txn->store->has_fleet)
		return 0;
	txn->makes_fleet = txn->store->has_fleet = true;
	error = open_all(txn->store, txn->txn, MDB_CREATE);
	return error ? write_error(error) : 0;
}

void xb_fleettables_end(struct xb_txn *txn, bool committed)
{
	if (txn->makes_fleet && !committed)
		txn->store->has_fleet = false;
}

static uint32_t checksum_of(const MDB_val *key, const void *bytes, size_t size)
{
	return xb_checksum(key->mv_data, key->mv_size, bytes, size);
}

/* Takes the checksum off. */
static int unseal(const MDB_val *key, MDB_val *value)
{
	uint32_t checksum;

	if (value->mv_size < sizeof(checksum))
		return xb_fleet_damaged();
	value->mv_size -= sizeof(checksum);
	memcpy(&checksum, (const uint8_t *)value->mv_data + value->mv_size, sizeof(checksum));
	return checksum == checksum_of(key, value->mv_data, value->mv_size) ? 1
									    : xb_fleet_damaged();
}

int xb_sealedrow_get(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, MDB_val *value)
{
	int error = xb_fleettables_are(txn)
			    ? mdb_get(txn->txn, table, (MDB_val *)(uintptr_t)key, value)
			    : MDB_NOTFOUND;

	if (error == MDB_NOTFOUND)
		return 0;
	return error ? read_error(error) : unseal(key, value);
}

int xb_sealedrow_put(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, const MDB_val *value)
{
	uint32_t checksum = checksum_of(key, value->mv_data, value->mv_size);
	MDB_val name = *key, place = {value->mv_size + sizeof(checksum), NULL};
	int error;

	if (!xb_fleettables_are(txn))
		return xb_fleet_none();
	txn->edits++;
	error = xb_lmdbpage_check(txn->txn, table, key);
	if (!error || error == MDB_NOTFOUND)
		error = mdb_put(txn->txn, table, &name, &place, MDB_RESERVE);
	if (error)
		return write_error(error);
	memcpy(place.mv_data, value->mv_data, value->mv_size);
	memcpy((uint8_t *)place.mv_data + value->mv_size, &checksum, sizeof(checksum));
	return 0;
}

int xb_sealedrow_delete(struct xb_txn *txn, MDB_dbi table, const MDB_val *key)
{
	MDB_val name = *key;
	int error =
		xb_fleettables_are(txn) ? xb_lmdbpage_delete(txn->txn, table, &name) : MDB_NOTFOUND;

	if (error == MDB_NOTFOUND)
		return 0;
	txn->edits++;
	return error ? write_error(error) : 1;
}

int xb_sealedrow_next(MDB_cursor *cursor, MDB_cursor_op where, MDB_val *key, MDB_val *value)
{
	int error = mdb_cursor_get(cursor, key, value, where);

	if (error == MDB_NOTFOUND)
		return 0;
	return error ? read_error(error) : unseal(key, value);
}

int xb_sealedrow_read(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, void *record,
		      size_t size)
{
	MDB_val value = {0};
	int found = xb_sealedrow_get(txn, table, key, &value);

	if (found <= 0)
		return found;
	if (value.mv_size != size)
		return xb_fleet_damaged();
	memcpy(record, value.mv_data, size);
	return 1;
}
