/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared lists of a transaction, from its begin to its commit. */
#ifndef XB_STORE_SHARES_H
#define XB_STORE_SHARES_H

#include "store/types.h"

/* 0, or an error with its message; xb_shares_free() is for the caller in either case. Does nothing
 * without a fleet. */
int xb_shares_load(struct xb_txn *txn);
void xb_shares_free(struct xb_txn *txn);

/* Writes what changed. 0, or an error with its message. */
int xb_shares_save(struct xb_txn *txn);

/* NULL: the list of this name is not shared. */
struct xb_share *xb_shares_find(const struct xb_txn *txn, const char *list);

/* Room for shares, in a store that was in no fleet. */
int xb_shares_begin(struct xb_txn *txn);

static inline void xb_shares_touch(struct xb_txn *txn, const struct xb_share *share)
{
	txn->shares.changed |= 1ULL << (share - txn->shares.item);
}

#endif
