/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions: begin, commit, abort. */
#ifndef XB_STORE_TXN_H
#define XB_STORE_TXN_H

#include "store/types.h"

/* The number of the transaction that makes the tables. Up to it, a store has no record. */
#define XB_NEW_STORE 1

/* Begin a transaction, which commit or abort ends and frees. A write transaction waits for another
 * writer. */
int xb_store_read(struct xb_store *store, struct xb_txn **txn);
int xb_store_write(struct xb_store *store, struct xb_txn **txn);

/* Durable when it returns 0. Frees the transaction in either case. */
int xb_txn_commit(struct xb_txn *txn);
void xb_txn_abort(struct xb_txn *txn);
/* Commits it; after an error, which it returns, aborts it. */
int xb_txn_end(struct xb_txn *txn, int error);

#endif
