/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record in the meta table, which an earlier version passes by. */
#include "store/knownwish.h"

#include <string.h>

#include "store/checksum.h"
#include "store/lmdberror.h"

struct record {
	uint32_t on, remember;
	uint64_t capacity;
	double rate;
	uint32_t reserved;
	uint32_t checksum; /* of the record, made while it is 0 */
};

static MDB_val record_key(void)
{
	static char name[] = "known";

	return (MDB_val){sizeof(name) - 1, name};
}

static uint32_t checksum_of(struct record record)
{
	record.checksum = 0;
	return xb_checksum(NULL, 0, &record, sizeof(record));
}

int xb_known_wish_get(struct xb_txn *txn, struct xb_known_wish *wish)
{
	MDB_val key = record_key(), value;
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);
	struct record record;

	*wish = (struct xb_known_wish){.remember = XB_KNOWN_REMEMBER,
				       .capacity = XB_KNOWN_CAPACITY,
				       .rate = XB_KNOWN_RATE};
	if (error == MDB_NOTFOUND)
		return 0;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	if (value.mv_size != sizeof(record))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	memcpy(&record, value.mv_data, sizeof(record));
	if (record.checksum != checksum_of(record))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	*wish = (struct xb_known_wish){.on = record.on,
				       .remember = record.remember,
				       .capacity = record.capacity,
				       .rate = record.rate};
	return 0;
}

int xb_known_wish_put(struct xb_txn *txn, const struct xb_known_wish *wish)
{
	struct record record = {.on = wish->on,
				.remember = wish->remember,
				.capacity = wish->capacity,
				.rate = wish->rate};
	MDB_val key = record_key(), value = {sizeof(record), &record};
	int error;

	record.checksum = checksum_of(record);
	txn->edits++;
	error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}
