/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A transaction begins at the newest meta page, or not at all; one that writes, with a list of free
 * pages that can be true. */
#ifndef XB_STORE_LATEST_H
#define XB_STORE_LATEST_H

#include <errno.h>
#include <lmdb.h>

/*
 * LMDB begins a transaction at the number that its lock file has, without a look at the meta pages.
 * If that number lags, a reader sees what is long past, and a writer overwrites the newest meta
 * page, and with it what was acknowledged. See docs/design.md, "Opening the store".
 */
#define XB_NOT_LATEST ESTALE

/*
 * As mdb_txn_begin() without a parent. Returns 0, an error of LMDB, or a positive errno, without a
 * message. MDB_CORRUPTED: xb_freelist_check() failed. XB_NOT_LATEST: the lock file lags. While a
 * writer is finishing its transaction, or after it died there, a reader may get the transaction
 * before it; that one was not acknowledged.
 */
int xb_latest_begin(MDB_env *env, unsigned int flags, MDB_txn **txn);

#endif
