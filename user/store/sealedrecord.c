/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sealedrecord.h"

#include <string.h>

#include "store/checksum.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"

static MDB_val key_of(const char *key)
{
	return (MDB_val){strlen(key), (void *)(uintptr_t)key};
}

static uint32_t checksum_of(const void *record, size_t size)
{
	static const uint32_t unsealed;

	return xb_checksum(record, size - sizeof(unsealed), &unsealed, sizeof(unsealed));
}

int xb_sealed_find(struct xb_txn *txn, const char *key, const void **record, size_t *size)
{
	MDB_val name = key_of(key), value = {0};
	int error = mdb_get(txn->txn, txn->store->meta, &name, &value);
	uint32_t checksum;

	if (error == MDB_NOTFOUND)
		return 0;
	if (!error && (value.mv_size < sizeof(checksum) || !xb_lmdbpage_is_whole(&value)))
		error = MDB_CORRUPTED;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	memcpy(&checksum, (const uint8_t *)value.mv_data + value.mv_size - sizeof(checksum),
	       sizeof(checksum));
	if (checksum != checksum_of(value.mv_data, value.mv_size))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	*record = value.mv_data;
	*size = value.mv_size;
	return 1;
}

int xb_sealed_get(struct xb_txn *txn, const char *key, void *record, size_t size)
{
	const void *found = NULL;
	size_t bytes = 0;
	int known = xb_sealed_find(txn, key, &found, &bytes);

	if (known <= 0)
		return known;
	if (!found || bytes != size)
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	memcpy(record, found, size);
	return 1;
}

int xb_sealed_put(struct xb_txn *txn, const char *key, void *record, size_t size)
{
	MDB_val name = key_of(key), value = {size, record};
	uint32_t checksum = checksum_of(record, size);
	int error = xb_lmdbpage_check(txn->txn, txn->store->meta, &name);

	memcpy((uint8_t *)record + size - sizeof(checksum), &checksum, sizeof(checksum));
	txn->edits++;
	if (!error || error == MDB_NOTFOUND)
		error = mdb_put(txn->txn, txn->store->meta, &name, &value, 0);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}

int xb_sealed_remove(struct xb_txn *txn, const char *key)
{
	MDB_val name = key_of(key);
	int error = xb_lmdbpage_delete(txn->txn, txn->store->meta, &name);

	txn->edits += !error;
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot write the store") : 0;
}
