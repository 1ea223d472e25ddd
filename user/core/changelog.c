/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record a transaction, under its sequence number, big-endian: (1 byte listed, key of the
 * entry) repeated; empty: bulk. */
#include "changelog.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

int xb_changelog_append(struct xb_txn *txn, bool bulk)
{
	uint64_t sequence = htobe64(++txn->meta.sequence);
	MDB_val key = {sizeof(sequence), &sequence}, value = {0, NULL};
	const struct xb_changes *changes = &txn->change;
	uint8_t *bytes = NULL, *end;
	int error;

	if (!bulk && !changes->bulk) {
		end = bytes = malloc(changes->count * (1 + XB_ENTRY_KEY_BYTES) + 1);
		if (!bytes)
			return xb_out_of_memory();
		for (size_t i = 0; i < changes->count; i++) {
			*end++ = changes->change[i].listed;
			end += xb_entry_encode(&changes->change[i].entry, end);
		}
		value = (MDB_val){(size_t)(end - bytes), bytes};
	}
	error = mdb_put(txn->txn, txn->store->changes, &key, &value, 0);
	free(bytes);
	return error ? xb_store_error(error, "cannot write the store") : 0;
}

int xb_changelog_trim(struct xb_txn *txn, uint64_t sequence)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	int error = mdb_cursor_open(txn->txn, txn->store->changes, &cursor);

	if (error)
		return xb_store_error(error, "cannot write the store");
	while (!(error = mdb_cursor_get(cursor, &key, &value, MDB_FIRST))) {
		uint64_t held;

		if (key.mv_size != sizeof(held)) {
			error = MDB_CORRUPTED;
			break;
		}
		memcpy(&held, key.mv_data, sizeof(held));
		if (be64toh(held) > sequence)
			break;
		error = mdb_cursor_del(cursor, 0);
		if (error)
			break;
	}
	mdb_cursor_close(cursor);
	return error && error != MDB_NOTFOUND ? xb_store_error(error, "cannot write the store") : 0;
}

int xb_changelog_read(struct xb_txn *txn, uint64_t sequence, struct xb_changes *changes)
{
	uint64_t order = htobe64(sequence);
	MDB_val key = {sizeof(order), &order}, value;
	const uint8_t *next, *end;
	int error = mdb_get(txn->txn, txn->store->changes, &key, &value);

	*changes = (struct xb_changes){0};
	if (error == MDB_NOTFOUND)
		return -ENOENT;
	if (error)
		return xb_store_error(error, "cannot read the store");
	if (!value.mv_size)
		xb_changes_set_bulk(changes);
	next = value.mv_data;
	end = next + value.mv_size;
	while (next < end) {
		bool listed = *next++;
		struct xb_entry entry;
		size_t taken = xb_entry_decode(next, (size_t)(end - next), &entry);

		if (!taken) {
			xb_changes_free(changes);
			return xb_store_error(MDB_CORRUPTED, "cannot read the store");
		}
		next += taken;
		error = xb_changes_add(changes, &entry, listed);
		if (error) {
			xb_changes_free(changes);
			return error;
		}
	}
	return 0;
}
