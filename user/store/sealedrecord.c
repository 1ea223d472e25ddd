/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sealedrecord.h"

#include <string.h>

#include "store/checksum.h"
#include "store/lmdberror.h"

static MDB_val key_of(const char *key)
{
	return (MDB_val){strlen(key), (void *)(uintptr_t)key};
}

static uint32_t checksum_of(const void *record, size_t size)
{
	uint8_t bytes[XB_SEALED_MAX] = {0};

	memcpy(bytes, record, size - sizeof(uint32_t));
	return xb_checksum(NULL, 0, bytes, size);
}

static uint8_t *seal_of(void *record, size_t size)
{
	return (uint8_t *)record + size - sizeof(uint32_t);
}

int xb_sealed_get(struct xb_txn *txn, const char *key, void *record, size_t size)
{
	MDB_val name = key_of(key), value = {0};
	int error = mdb_get(txn->txn, txn->store->meta, &name, &value);
	uint32_t checksum;

	if (error == MDB_NOTFOUND)
		return 0;
	if (!error && value.mv_size != size)
		error = MDB_CORRUPTED;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	memcpy(record, value.mv_data, size);
	memcpy(&checksum, seal_of(record, size), sizeof(checksum));
	if (checksum != checksum_of(record, size))
		return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	return 1;
}

int xb_sealed_put(struct xb_txn *txn, const char *key, void *record, size_t size)
{
	MDB_val name = key_of(key), value = {size, record};
	uint32_t checksum = checksum_of(record, size);
	int error;

	memcpy(seal_of(record, size), &checksum, sizeof(checksum));
	txn->edits++;
	error = mdb_put(txn->txn, txn->store->meta, &name, &value, 0);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}
