/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions: begin, commit, abort. */
#ifndef XB_STORE_TXN_H
#define XB_STORE_TXN_H

#include "store/types.h"

/* Tables are made by the first transaction, or by a few if that was cut off in earlier versions. */
#define XB_NEW_STORE 4

/* Both are ended by commit or abort, which free them. A write waits for the other writer. */
int xb_store_read(struct xb_store *store, struct xb_txn **txn);
int xb_store_write(struct xb_store *store, struct xb_txn **txn);

/* Durable when it returns 0. Frees the transaction in either case. */
int xb_txn_commit(struct xb_txn *txn);
void xb_txn_abort(struct xb_txn *txn);

#endif
