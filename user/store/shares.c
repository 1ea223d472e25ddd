/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"

/* Under the name of the list. */
struct share_record {
	uint64_t half[2];
	uint32_t flags;
	uint32_t unused;
};

struct counts_record {
	uint64_t last_number;
	uint32_t shares; /* so that a lost page is noticed */
	uint32_t unused;
};

static const uint8_t counts_key[] = {XB_FLEET_COUNTS};

static MDB_val key_of_counts(void)
{
	return (MDB_val){sizeof(counts_key), (void *)(uintptr_t)counts_key};
}

struct share_key {
	uint8_t bytes[sizeof(((struct xb_share *)0)->list)];
};

static MDB_val key_of(const struct xb_share *share, struct share_key *key)
{
	size_t size = strlen(share->list);

	key->bytes[0] = XB_FLEET_SHARE;
	memcpy(key->bytes + 1, share->list, size);
	return (MDB_val){1 + size, key->bytes};
}

struct xb_share *xb_shares_find(const struct xb_txn *txn, const char *list)
{
	for (size_t i = 0; i < txn->shares.count; i++)
		if (!strcmp(txn->shares.item[i].list, list))
			return &txn->shares.item[i];
	return NULL;
}

int xb_shares_begin(struct xb_txn *txn)
{
	if (!txn->shares.item)
		txn->shares.item = calloc(XB_SHARES_MAX, sizeof(*txn->shares.item));
	return txn->shares.item ? 0 : xb_out_of_memory();
}

static int load_one(struct xb_shares *shares, const MDB_val *key, const MDB_val *value)
{
	struct xb_share *share = &shares->item[shares->count];
	struct share_record record;

	if (shares->count == XB_SHARES_MAX || key->mv_size < 2 ||
	    key->mv_size - 1 >= sizeof(share->list) || value->mv_size != sizeof(record))
		return xb_fleet_damaged();
	memcpy(&record, value->mv_data, sizeof(record));
	memcpy(share->list, (const uint8_t *)key->mv_data + 1, key->mv_size - 1);
	share->flags = record.flags;
	memcpy(share->digest.half, record.half, sizeof(record.half));
	shares->count++;
	return 0;
}

static int load_all(struct xb_txn *txn, MDB_cursor *cursor)
{
	uint8_t first = XB_FLEET_SHARE;
	MDB_val key = {1, &first}, value = {0};
	int error = 0, more = xb_sealedrow_next(cursor, MDB_SET_RANGE, &key, &value);

	while (more > 0 && !error && *(const uint8_t *)key.mv_data == XB_FLEET_SHARE) {
		error = load_one(&txn->shares, &key, &value);
		if (!error)
			more = xb_sealedrow_next(cursor, MDB_NEXT, &key, &value);
	}
	return error ? error : more < 0 ? more : 0;
}

int xb_shares_load(struct xb_txn *txn)
{
	const MDB_val key = key_of_counts();
	struct counts_record counts = {0};
	MDB_cursor *cursor;
	int error, found;

	if (!xb_fleettables_are(txn))
		return 0;
	error = xb_shares_begin(txn);
	if (error)
		return error;
	found = xb_sealedrow_read(txn, txn->store->fleet, &key, &counts, sizeof(counts));
	if (found <= 0)
		return found ? found : xb_fleet_damaged();
	txn->shares.last_number = counts.last_number;
	error = mdb_cursor_open(txn->txn, txn->store->fleet, &cursor);
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	error = load_all(txn, cursor);
	mdb_cursor_close(cursor);
	return error || counts.shares == txn->shares.count ? error : xb_fleet_damaged();
}

static int save_one(struct xb_txn *txn, const struct xb_share *share)
{
	struct share_record record = {.flags = share->flags};
	MDB_val value = {sizeof(record), &record}, key = {0};
	struct share_key bytes;

	memcpy(record.half, share->digest.half, sizeof(record.half));
	key = key_of(share, &bytes);
	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

static int save_counts(struct xb_txn *txn)
{
	struct counts_record counts = {.last_number = txn->shares.last_number,
				       .shares = (uint32_t)txn->shares.count};
	const MDB_val key = key_of_counts(), value = {sizeof(counts), &counts};

	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

int xb_shares_save(struct xb_txn *txn)
{
	int error = txn->shares.counted ? save_counts(txn) : 0;

	for (size_t i = 0; !error && i < txn->shares.count; i++)
		if (txn->shares.changed >> i & 1)
			error = save_one(txn, &txn->shares.item[i]);
	txn->shares.changed = 0;
	txn->shares.counted = false;
	return error;
}

void xb_shares_free(struct xb_txn *txn)
{
	free(txn->shares.item);
	free(txn->shares.event);
	xb_arena_free(&txn->shares.bytes);
	txn->shares = (struct xb_shares){0};
}
