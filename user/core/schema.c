/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema.h"

#include <errno.h>
#include <string.h>

#include "entries.h"
#include "error.h"
#include "seal.h"

/* Until schema 3 a record for each entry; in schema 4 many to a record, without a seal. */
#define TABLE_OF_RECORDS "entries"
#define TABLE_OF_LEAVES	 "leaves"

#define DOING "cannot upgrade the store"

bool xb_schema_is_old(MDB_txn *txn)
{
	MDB_dbi table;

	return !mdb_dbi_open(txn, TABLE_OF_RECORDS, 0, &table) ||
	       !mdb_dbi_open(txn, TABLE_OF_LEAVES, 0, &table);
}

static int put(struct xb_txn *txn, const uint8_t *key, size_t size, const void *value,
	       size_t value_size)
{
	MDB_val bytes = {value_size, (void *)(uintptr_t)value}, none;
	struct xb_entry entry;
	int error;

	if (!xb_entry_decode(key, size, &entry))
		return xb_store_error(MDB_CORRUPTED, DOING);
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
	return more ? xb_store_error(MDB_CORRUPTED, DOING) : 0;
}

static int move(struct xb_txn *txn, const char *name, bool leaves)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	MDB_dbi table;
	int error = mdb_dbi_open(txn->txn, name, 0, &table), failed = 0;

	/* Somebody else may have done it. */
	if (error == MDB_NOTFOUND)
		return 0;
	if (!error)
		error = mdb_cursor_open(txn->txn, table, &cursor);
	if (error)
		return xb_store_error(error, DOING);
	while (!failed && !(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
		failed = leaves ? put_leaf(txn, &value)
				: put(txn, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
	mdb_cursor_close(cursor);
	if (failed)
		return failed;
	if (error == MDB_NOTFOUND)
		error = mdb_drop(txn->txn, table, 1);
	return error ? xb_store_error(error, DOING) : 0;
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
	if (error) {
		xb_txn_abort(txn);
		return error;
	}
	return xb_txn_commit(txn);
}

/* Schemas 3 to 5 ended before the mark; 5 was the first with a seal. */
static int upgrade_unmarked(struct xb_meta *meta, const MDB_val *value)
{
	uint32_t seal;

	*meta = (struct xb_meta){0};
	memcpy(meta, value->mv_data, XB_META_WITHOUT_MARK);
	if (meta->schema == 5) {
		seal = meta->seal;
		meta->seal = 0;
		if (seal != xb_seal(NULL, 0, meta, XB_META_WITHOUT_MARK))
			return xb_store_error(MDB_CORRUPTED, "cannot read the store");
	}
	if (meta->schema < 3 || meta->schema > 5)
		return xb_store_error(MDB_CORRUPTED, "cannot read the store");
	meta->schema = XB_SCHEMA;
	return 0;
}

/* Schema 1 ended before the number of allowed entries, and had its default rate written out. Schema
 * 2 had no names: their number was not in the totals, and it ended before the ports. */
int xb_schema_upgrade_meta(struct xb_meta *meta, const MDB_val *value)
{
	const size_t first = offsetof(struct xb_meta, totals.allow),
		     front = offsetof(struct xb_meta, totals.names),
		     back = offsetof(struct xb_meta, ports) - offsetof(struct xb_meta, policy);
	const char *bytes = value->mv_data;

	if (value->mv_size == sizeof(*meta)) {
		meta->schema = XB_SCHEMA;
		return 0;
	}
	if (value->mv_size == XB_META_WITHOUT_MARK)
		return upgrade_unmarked(meta, value);
	*meta = (struct xb_meta){.ports.dns[0] = XB_DNS_PORT};
	if (value->mv_size == first) {
		memcpy(meta, bytes, first);
		if (!(meta->rate > XB_DEFAULT_RATE) && !(meta->rate < XB_DEFAULT_RATE))
			meta->rate = 0;
	} else if (value->mv_size == front + back) {
		memcpy(meta, bytes, front);
		memcpy(&meta->policy, bytes + front, back);
	} else {
		return xb_system_error(0, "the store is of another version of this program");
	}
	meta->schema = XB_SCHEMA;
	return 0;
}
