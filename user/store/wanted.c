/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of wanted interfaces. */
#include "store/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "store/home.h"
#include "store/lmdbpage.h"
#include "store/table.h"

int xb_wanted_put(struct xb_txn *txn, const struct xb_wanted *wanted)
{
	uint32_t mode = wanted->mode;
	MDB_val key = {strlen(wanted->name), (void *)wanted->name}, value = {sizeof(mode), &mode};
	int error = mdb_put(txn->txn, txn->store->ifaces, &key, &value, 0);

	txn->edits++;
	return error ? xb_lmdb_error(error, "cannot write the store") : xb_home_put(txn);
}

int xb_wanted_has(struct xb_txn *txn, const char *name, bool *found)
{
	MDB_val key = {strlen(name), (void *)name}, value = {0};
	int error = mdb_get(txn->txn, txn->store->ifaces, &key, &value);

	*found = !error;
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot read the store") : 0;
}

int xb_wanted_remove(struct xb_txn *txn, const char *name, bool *found)
{
	MDB_val key = {strlen(name), (void *)name};
	int error = xb_lmdbpage_delete(txn->txn, txn->store->ifaces, &key);

	*found = !error;
	txn->edits += *found;
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot write the store") : 0;
}

int xb_wanted_all(struct xb_txn *txn, struct xb_wanted **out, size_t *count)
{
	struct xb_wanted *all = NULL;
	MDB_cursor *cursor;
	MDB_val key = {0}, value = {0};
	size_t used = 0, room = 0;
	int error = mdb_cursor_open(txn->txn, txn->store->ifaces, &cursor);

	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	while (!(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		uint32_t mode;

		error = xb_array_grow(&all, &room, used + 1, sizeof(*all));
		if (error)
			goto out;
		if (key.mv_size >= IF_NAMESIZE || value.mv_size != sizeof(mode)) {
			error = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
			goto out;
		}
		memset(&all[used], 0, sizeof(all[used]));
		memcpy(all[used].name, key.mv_data, key.mv_size);
		memcpy(&mode, value.mv_data, sizeof(mode));
		all[used++].mode = mode > XB_MODE_SKB ? XB_MODE_AUTO : mode;
	}
	if (error == MDB_NOTFOUND && !xb_table_has_all(txn, txn->store->ifaces, used))
		error = MDB_CORRUPTED;
	error = error == MDB_NOTFOUND ? 0 : xb_lmdb_error(error, "cannot read the store");
out:
	mdb_cursor_close(cursor);
	if (error) {
		free(all);
		return error;
	}
	*out = all;
	*count = used;
	return 0;
}
