/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lists of a transaction, from its begin to its commit; who uses lists finds the rest
 * in store.h. */
#ifndef XB_CORE_LISTS_H
#define XB_CORE_LISTS_H

#include "store.h"

/* 0, or an error with its message; xb_lists_free() is for the caller in either case. */
int xb_lists_load(struct xb_txn *txn);
void xb_lists_free(struct xb_txn *txn);

/* Writes what changed. 0, or an error of LMDB without a message. */
int xb_lists_save(struct xb_txn *txn);

#endif
