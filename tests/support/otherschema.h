/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store as a program of another schema leaves it. */
#ifndef XB_TEST_OTHERSCHEMA_H
#define XB_TEST_OTHERSCHEMA_H

#include "support/waiting.h"

/* What it may be grown to. */
struct longer_meta {
	struct xb_meta known;
	uint64_t more[4];
};

/* The store gets this schema, and is sealed as a program of that schema would. The transaction is
 * given up. */
static inline void become(uint32_t schema, size_t size)
{
	struct longer_meta record = {.known = txn->meta};
	MDB_val key = {4, (void *)(uintptr_t) "meta"}, value = {size, &record};
	MDB_txn *own;

	xb_txn_abort(txn);
	txn = NULL;
	record.known.schema = schema;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	record.known.transaction = mdb_txn_id(own);
	xb_meta_checksum(&record.known);
	assert_int_equal(mdb_put(own, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
}

#endif
