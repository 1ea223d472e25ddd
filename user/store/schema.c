/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/schema.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/entrytable.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"

/* Until schema 3 a record for each entry; in schema 4 many to a record, without a checksum. */
#define TABLE_OF_RECORDS "entries"
#define TABLE_OF_LEAVES	 "leaves"

#define DOING "cannot upgrade the store"

bool xb_schema_is_old(MDB_txn *txn)
{
	MDB_dbi table;

	return !xb_lmdbpage_open(txn, TABLE_OF_RECORDS, 0, &table) ||
	       !xb_lmdbpage_open(txn, TABLE_OF_LEAVES, 0, &table);
}

static int put(struct xb_txn *txn, const uint8_t *key, size_t size, const void *value,
	       size_t value_size)
{
	MDB_val bytes = {value_size, (void *)(uintptr_t)value}, none;
	struct xb_entry entry;
	int error;

	if (!xb_entry_decode(key, size, &entry))
		return xb_lmdb_error(MDB_CORRUPTED, DOING);
	error = xb_entries_get(txn, &entry, &none);
	return error == -ENOENT ? xb_entries_set(txn, &bytes) : error;
}

static int put_leaf(struct xb_txn *txn, const MDB_val *leaf)
{
	struct xb_leaf_reader reader;
	int more = xb_leaf_first(&reader, leaf->mv_data, leaf->mv_size), error;

	for (; more > 0; more = xb_leaf_next(&reader)) {
		error = put(txn, xb_leaf_key(&reader), xb_leaf_key_size(&reader), reader.value,
			    reader.value_size);
		if (error)
			return error;
	}
	return more ? xb_lmdb_error(MDB_CORRUPTED, DOING) : 0;
}

static int move(struct xb_txn *txn, const char *name, bool leaves)
{
	MDB_cursor *cursor;
	MDB_val key = {0}, value = {0};
	MDB_dbi table;
	int error = xb_lmdbpage_open(txn->txn, name, 0, &table), failed = 0;

	/* Somebody else may have done it. */
	if (error == MDB_NOTFOUND)
		return 0;
	if (!error)
		error = mdb_cursor_open(txn->txn, table, &cursor);
	if (error)
		return xb_lmdb_error(error, DOING);
	while (!failed && !(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
		failed = leaves ? put_leaf(txn, &value)
				: put(txn, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
	mdb_cursor_close(cursor);
	if (failed)
		return failed;
	if (error == MDB_NOTFOUND)
		error = mdb_drop(txn->txn, table, 1);
	return error ? xb_lmdb_error(error, DOING) : 0;
}

int xb_schema_upgrade(struct xb_store *store)
{
	struct xb_txn *txn;
	int error = xb_store_write(store, &txn);

	if (error)
		return error;
	error = move(txn, TABLE_OF_RECORDS, false);
	if (!error)
		error = move(txn, TABLE_OF_LEAVES, true);
	return xb_txn_end(txn, error);
}
