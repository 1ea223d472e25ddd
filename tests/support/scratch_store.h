/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of its own for each test of a file: its setup and teardown. */
#ifndef XB_TEST_SCRATCH_STORE_H
#define XB_TEST_SCRATCH_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static char directory[sizeof("/tmp/xb-store-XXXXXX")];
static struct xb_store *store;

static inline int begin(void **state)
{
	strcpy(directory, "/tmp/xb-store-XXXXXX");
	*state = NULL;
	return mkdtemp(directory) && !xb_store_open(directory, XB_STORE_CREATE, &store) ? 0 : -1;
}

static inline int end(void **state)
{
	char command[128];

	(void)state;
	xb_store_close(store);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* Its meta record as schemas 3 and 4 had it: without checksum and mark. */
static inline void shorten_meta(MDB_txn *txn, MDB_dbi table, uint32_t schema)
{
	MDB_val key = {4, "meta"}, record;
	struct xb_meta meta;

	assert_int_equal(mdb_get(txn, table, &key, &record), 0);
	memcpy(&meta, record.mv_data, sizeof(meta));
	meta.schema = schema;
	meta.checksum = 0;
	record = (MDB_val){XB_META_WITHOUT_MARK, &meta};
	assert_int_equal(mdb_put(txn, table, &key, &record, 0), 0);
}

/* Its leaves as schema 4 had them: without a seal, in a table of another name. */
static inline void unseal_leaves(MDB_txn *txn)
{
	MDB_val key, record;
	MDB_cursor *cursor;
	MDB_dbi leaves;

	assert_int_equal(mdb_dbi_open(txn, "leaves", MDB_CREATE, &leaves), 0);
	assert_int_equal(mdb_cursor_open(txn, store->leaves, &cursor), 0);
	while (!mdb_cursor_get(cursor, &key, &record, MDB_NEXT)) {
		record.mv_size -= 4;
		assert_int_equal(mdb_put(txn, leaves, &key, &record, 0), 0);
	}
	mdb_cursor_close(cursor);
	assert_int_equal(mdb_drop(txn, store->leaves, 1), 0);
}

#endif
