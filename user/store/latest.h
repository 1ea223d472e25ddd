/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A transaction begins at the newest meta page, or not at all. */
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
 * As mdb_txn_begin() without a parent: 0, or an error of LMDB or a positive errno, no message;
 * XB_NOT_LATEST: the lock file lags. A reader may get the transaction before the newest one while
 * the process that made that is not done with it, or died there; nobody has been told of it.
 */
int xb_latest_begin(MDB_env *env, unsigned int flags, MDB_txn **txn);

#endif
