/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each record has the entries from its own key to right before the next record's; the first one's
 * key is before all entries, so that each has its record. A transaction changes one record at a
 * time in memory, and writes it as one or several when it goes on to another.
 */
#include "store/entrytable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/checksum.h"
#include "store/lmdberror.h"
#include "store/table.h"

/* Each record ends with the checksum of its key and of the leaf before it. */
#define SEAL_BYTES sizeof(uint32_t)
/* Of a leaf: four records to a page of 4 KiB, with what LMDB needs for each. */
#define RECORD_BYTES (1000 - SEAL_BYTES)
/* So much is kept in memory until it is written: records are full when keys come in order. */
#define MEMORY_BYTES (4 * RECORD_BYTES - RECORD_BYTES / 8)
/* A record smaller than this goes into the one before, if that has room. */
#define SMALL_BYTES (RECORD_BYTES / 4)

static const uint8_t first_key[] = {0};

static int read_error(int error)
{
	return xb_lmdb_error(error == -EUCLEAN ? MDB_CORRUPTED : error, "cannot read the store");
}

static int write_error(int error)
{
	return xb_lmdb_error(error, "cannot write the store");
}

/* Of a leaf: its own messages stand. */
static int leaf_error(int error)
{
	return error == -EUCLEAN ? read_error(error) : error;
}

int xb_entries_open(struct xb_txn *txn)
{
	int error = mdb_cursor_open(txn->txn, txn->store->leaves, &txn->entries.cursor);

	return error ? read_error(error) : 0;
}

void xb_entries_close(struct xb_txn *txn)
{
	struct xb_entries *entries = &txn->entries;

	if (entries->cursor)
		mdb_cursor_close(entries->cursor);
	xb_leaf_free(&entries->leaf);
	*entries = (struct xb_entries){0};
}

static int get(MDB_cursor *cursor, MDB_val *key, MDB_val *leaf, MDB_cursor_op where)
{
	int error = mdb_cursor_get(cursor, key, leaf, where);
	uint32_t checksum;

	if (error)
		return error;
	if (leaf->mv_size < SEAL_BYTES || !key->mv_size || key->mv_size > XB_LEAF_KEY_MAX)
		return MDB_CORRUPTED;
	leaf->mv_size -= SEAL_BYTES;
	memcpy(&checksum, (char *)leaf->mv_data + leaf->mv_size, SEAL_BYTES);
	return checksum == xb_checksum(key->mv_data, key->mv_size, leaf->mv_data, leaf->mv_size)
		       ? 0
		       : MDB_CORRUPTED;
}

/* The cursor goes to the record that has the key; MDB_NOTFOUND: the table is empty. */
static int find_record(MDB_cursor *cursor, const uint8_t *key, size_t size, MDB_val *at,
		       MDB_val *record)
{
	int error;

	*at = (MDB_val){size, (void *)(uintptr_t)key};
	error = get(cursor, at, record, MDB_SET_RANGE);
	if (error && error != MDB_NOTFOUND)
		return error;
	if (!error && !xb_leaf_compare(at->mv_data, at->mv_size, key, size))
		return 0;
	error = get(cursor, at, record, error ? MDB_LAST : MDB_PREV);
	/* The first record begins before all keys. */
	if (!error && xb_leaf_compare(at->mv_data, at->mv_size, key, size) > 0)
		return MDB_CORRUPTED;
	return error;
}

static void set_low(struct xb_entries *entries, const uint8_t *key, size_t size)
{
	memcpy(entries->low, key, size);
	entries->low_size = size;
}

/* Where the cursor's record ends, which is where the next one begins. */
static int find_high(struct xb_entries *entries)
{
	MDB_val key = {0}, record = {0};
	int error = get(entries->cursor, &key, &record, MDB_NEXT);

	entries->high_size = 0;
	if (error == MDB_NOTFOUND)
		return 0;
	if (error)
		return read_error(error);
	memcpy(entries->high, key.mv_data, key.mv_size);
	entries->high_size = key.mv_size;
	return 0;
}

static bool has(const struct xb_entries *entries, const uint8_t *key, size_t size)
{
	return entries->open && xb_leaf_compare(key, size, entries->low, entries->low_size) >= 0 &&
	       (!entries->high_size ||
		xb_leaf_compare(key, size, entries->high, entries->high_size) < 0);
}

static int put_record(struct xb_entries *entries, const uint8_t *key, size_t size,
		      const MDB_val *leaf, bool last)
{
	uint32_t checksum = xb_checksum(key, size, leaf->mv_data, leaf->mv_size);
	MDB_val at = {size, (void *)(uintptr_t)key}, record = {leaf->mv_size + SEAL_BYTES, NULL};
	int error = mdb_cursor_put(entries->cursor, &at, &record,
				   MDB_RESERVE | (last ? MDB_APPEND : 0));

	if (error)
		return write_error(error);
	memcpy(record.mv_data, leaf->mv_data, leaf->mv_size);
	memcpy((char *)record.mv_data + leaf->mv_size, &checksum, SEAL_BYTES);
	return 0;
}

/* As records of about the same size. */
static int write_records(struct xb_entries *entries)
{
	size_t bytes = xb_leaf_bytes(&entries->leaf), written = 0;
	/* Each has values of its own, and its first key in full. */
	size_t limit = bytes / (bytes / RECORD_BYTES + 1) + RECORD_BYTES / 16;
	struct xb_leaf_reader reader;
	int error = xb_leaf_begin(&entries->leaf, &reader);

	if (error < 0)
		return leaf_error(error);
	do {
		bool first = !written++;
		uint8_t key[XB_LEAF_KEY_MAX], *out;
		size_t size = xb_leaf_key_size(&reader);
		MDB_val record = {0};

		memcpy(key, xb_leaf_key(&reader), size);
		error = xb_leaf_write(&reader, limit < RECORD_BYTES ? limit : RECORD_BYTES, &out,
				      &record.mv_size);
		if (error)
			return leaf_error(error);
		record.mv_data = out;
		error = first ? put_record(entries, entries->low, entries->low_size, &record,
					   !entries->high_size && !entries->stored)
			      : put_record(entries, key, size, &record, !entries->high_size);
		free(out);
	} while (!error && reader.at < reader.entries_size);
	/* Of several records it is none any more. */
	entries->open = written == 1;
	return error;
}

static bool is_first(const struct xb_entries *entries)
{
	return entries->low_size == sizeof(first_key) && entries->low[0] == first_key[0];
}

static int delete_record(struct xb_entries *entries)
{
	MDB_val key = {entries->low_size, entries->low}, record = {0};
	int error = mdb_cursor_get(entries->cursor, &key, &record, MDB_SET);

	if (!error)
		error = mdb_cursor_del(entries->cursor, 0);
	entries->stored = false;
	return error ? write_error(error) : 0;
}

static int flush(struct xb_txn *txn);

static int load(struct xb_txn *txn, const uint8_t *key, size_t size)
{
	struct xb_entries *entries = &txn->entries;
	MDB_val at = {0}, record = {0};
	int error = flush(txn);

	if (error)
		return error;
	entries->open = false;
	entries->version++;
	error = find_record(entries->cursor, key, size, &at, &record);
	if (error && error != MDB_NOTFOUND)
		return read_error(error);
	entries->stored = !error;
	if (error) {
		at = (MDB_val){sizeof(first_key), (void *)(uintptr_t)first_key};
		record = (MDB_val){sizeof(first_key), (void *)(uintptr_t)first_key}; /* no values */
	}
	set_low(entries, at.mv_data, at.mv_size);
	error = xb_leaf_load(&entries->leaf, record.mv_data, record.mv_size);
	if (error)
		return leaf_error(error);
	entries->high_size = 0;
	error = entries->stored ? find_high(entries) : 0;
	entries->open = !error;
	return error;
}

/* All of one leaf into another. Returns as xb_leaf_put(). */
static int put_all(struct xb_leaf *leaf, const struct xb_leaf *from)
{
	struct xb_leaf_reader reader;
	int more = xb_leaf_begin(from, &reader);

	while (more > 0) {
		more = xb_leaf_find(leaf, xb_leaf_key(&reader), xb_leaf_key_size(&reader));
		if (!more)
			more = xb_leaf_put(leaf, xb_leaf_key(&reader), xb_leaf_key_size(&reader),
					   reader.value, reader.value_size);
		if (!more)
			more = xb_leaf_next(&reader);
	}
	return more;
}

/* What is left of a record goes to the end of the one before. */
static int move_left(struct xb_txn *txn)
{
	struct xb_entries *entries = &txn->entries;
	struct xb_leaf rest = entries->leaf;
	uint8_t before[XB_LEAF_KEY_MAX];
	MDB_val key = {entries->low_size, entries->low}, record = {0};
	size_t before_size;
	int error;

	error = mdb_cursor_get(entries->cursor, &key, &record, MDB_SET);
	if (!error)
		error = get(entries->cursor, &key, &record, MDB_PREV);
	if (error)
		return read_error(error);
	if (record.mv_size + xb_leaf_bytes(&rest) > RECORD_BYTES)
		return write_records(entries);
	before_size = key.mv_size;
	memcpy(before, key.mv_data, before_size);
	error = delete_record(entries);
	if (error)
		return error;
	entries->leaf = (struct xb_leaf){0};
	entries->changed = false;
	error = load(txn, before, before_size);
	if (!error) {
		error = put_all(&entries->leaf, &rest);
		error = error ? leaf_error(error) : 0;
	}
	xb_leaf_free(&rest);
	return error ? error : write_records(entries);
}

static int flush(struct xb_txn *txn)
{
	struct xb_entries *entries = &txn->entries;
	size_t bytes = xb_leaf_bytes(&entries->leaf);
	bool empty = !entries->leaf.place.entries_size;
	int error;

	if (!entries->open || !entries->changed)
		return 0;
	entries->changed = false;
	entries->version++;
	if (empty && !is_first(entries)) {
		entries->open = false;
		return entries->stored ? delete_record(entries) : 0;
	}
	if (empty || bytes >= SMALL_BYTES || is_first(entries) || !entries->stored)
		error = write_records(entries);
	else
		error = move_left(txn);
	entries->stored = true;
	return error;
}

int xb_entries_flush(struct xb_txn *txn)
{
	return flush(txn);
}

/* 1: the leaf in memory stands at the key; 0: it would have its place there. */
static int find(struct xb_txn *txn, const uint8_t *key, size_t size)
{
	struct xb_entries *entries = &txn->entries;
	int error = 0;

	if (!(entries->open && xb_leaf_is_around(&entries->leaf, key, size)) &&
	    !has(entries, key, size))
		error = load(txn, key, size);
	if (error)
		return error;
	error = xb_leaf_find(&entries->leaf, key, size);
	return error < 0 ? leaf_error(error) : error;
}

static int get_from_record(struct xb_txn *txn, const uint8_t *key, size_t size, MDB_val *value)
{
	struct xb_leaf_reader reader;
	MDB_val at = {0}, record = {0};
	int more, error = find_record(txn->entries.cursor, key, size, &at, &record);

	if (error == MDB_NOTFOUND)
		return -ENOENT;
	if (error)
		return read_error(error);
	more = xb_leaf_first(&reader, record.mv_data, record.mv_size);
	if (more > 0)
		more = xb_leaf_reach(&reader, key, size);
	if (more < 0)
		return read_error(more);
	if (!more || xb_leaf_compare(xb_leaf_key(&reader), xb_leaf_key_size(&reader), key, size))
		return -ENOENT;
	*value = (MDB_val){reader.value_size, (void *)(uintptr_t)reader.value};
	return 0;
}

int xb_entries_get(struct xb_txn *txn, const struct xb_entry *entry, MDB_val *value)
{
	struct xb_entries *entries = &txn->entries;
	int found;

	entries->key_size = xb_entry_encode(entry, entries->key);
	if (!txn->writes)
		return get_from_record(txn, entries->key, entries->key_size, value);
	found = find(txn, entries->key, entries->key_size);
	if (found <= 0)
		return found ? found : -ENOENT;
	*value = (MDB_val){entries->leaf.place.value_size,
			   (void *)(uintptr_t)entries->leaf.place.value};
	return 0;
}

int xb_entries_set(struct xb_txn *txn, const MDB_val *value)
{
	struct xb_entries *entries = &txn->entries;
	int error;

	entries->changed = true;
	entries->version++;
	txn->edits++;
	error = value->mv_size ? xb_leaf_put(&entries->leaf, entries->key, entries->key_size,
					     value->mv_data, value->mv_size)
			       : xb_leaf_remove(&entries->leaf);
	if (error)
		return leaf_error(error);
	return xb_leaf_bytes(&entries->leaf) < MEMORY_BYTES ? 0 : flush(txn);
}

int xb_entries_remove_all(struct xb_txn *txn)
{
	int error = mdb_drop(txn->txn, txn->store->leaves, 0);

	txn->entries.open = txn->entries.changed = false;
	txn->entries.version++;
	txn->edits++;
	return error ? write_error(error) : 0;
}

int xb_scan_begin(struct xb_scan *scan, struct xb_txn *txn)
{
	int error;

	*scan = (struct xb_scan){.txn = txn};
	error = mdb_cursor_open(txn->txn, txn->store->leaves, &scan->cursor);
	return error ? read_error(error) : 0;
}

void xb_scan_end(struct xb_scan *scan)
{
	if (scan->cursor)
		mdb_cursor_close(scan->cursor);
	scan->cursor = NULL;
}

/* Begins to read the cursor's record, or what the transaction has of it in memory. */
static int read_record(struct xb_scan *scan, const MDB_val *key, const MDB_val *record)
{
	const struct xb_entries *entries = &scan->txn->entries;

	scan->version = entries->version;
	scan->in_memory = entries->open && !xb_leaf_compare(key->mv_data, key->mv_size,
							    entries->low, entries->low_size);
	return scan->in_memory ? xb_leaf_begin(&entries->leaf, &scan->reader)
			       : xb_leaf_first(&scan->reader, record->mv_data, record->mv_size);
}

/* On to records behind, until one has an entry. */
static int go_on(struct xb_scan *scan, int more)
{
	const struct xb_entries *entries = &scan->txn->entries;
	MDB_val key = {0}, record = {0};
	int error;

	while (!more) {
		if (scan->in_memory && !entries->high_size)
			return 0;
		if (scan->in_memory) {
			key = (MDB_val){entries->high_size, (void *)(uintptr_t)entries->high};
			error = get(scan->cursor, &key, &record, MDB_SET);
		} else {
			error = get(scan->cursor, &key, &record, MDB_NEXT);
		}
		if (error == MDB_NOTFOUND)
			return scan->in_memory ? read_error(MDB_CORRUPTED) : 0;
		if (error)
			return read_error(error);
		if (xb_leaf_compare(key.mv_data, key.mv_size, xb_leaf_key(&scan->reader),
				    xb_leaf_key_size(&scan->reader)) < 0)
			return read_error(MDB_CORRUPTED);
		more = read_record(scan, &key, &record);
	}
	return more < 0 ? read_error(more) : more;
}

int xb_scan_seek(struct xb_scan *scan, const uint8_t *key, size_t size)
{
	const struct xb_entries *entries = &scan->txn->entries;
	MDB_val at = {entries->low_size, (void *)(uintptr_t)entries->low}, record = {0};
	int more, error = 0;

	if (!has(entries, key, size))
		error = find_record(scan->cursor, key, size, &at, &record);
	if (error)
		return error == MDB_NOTFOUND ? 0 : read_error(error);
	more = read_record(scan, &at, &record);
	if (more > 0)
		more = xb_leaf_reach(&scan->reader, key, size);
	more = go_on(scan, more);
	if (more > 0 && xb_leaf_compare(xb_leaf_key(&scan->reader), xb_leaf_key_size(&scan->reader),
					key, size) < 0)
		return read_error(MDB_CORRUPTED);
	return more;
}

int xb_scan_next(struct xb_scan *scan)
{
	uint8_t key[XB_LEAF_KEY_MAX];
	size_t size = xb_leaf_key_size(&scan->reader);
	int more;

	if (scan->version == scan->txn->entries.version)
		return go_on(scan, xb_leaf_next(&scan->reader));
	memcpy(key, xb_leaf_key(&scan->reader), size);
	more = xb_scan_seek(scan, key, size);
	if (more > 0 && !xb_leaf_compare(xb_leaf_key(&scan->reader),
					 xb_leaf_key_size(&scan->reader), key, size))
		more = go_on(scan, xb_leaf_next(&scan->reader));
	return more;
}
