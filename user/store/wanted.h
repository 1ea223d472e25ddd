/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wanted interfaces in the store. */
#ifndef XB_STORE_WANTED_H
#define XB_STORE_WANTED_H

#include "model/interface.h"
#include "store/store.h"

/* Makes the interface wanted in the network namespace of this process, which becomes the home. */
int xb_wanted_put(struct xb_txn *txn, const struct xb_wanted *wanted);

int xb_wanted_has(struct xb_txn *txn, const char *name, bool *found);

/* Makes the interface unwanted. *found: it was wanted. */
int xb_wanted_remove(struct xb_txn *txn, const char *name, bool *found);

/* Reads all wanted interfaces, in the order of their names; the caller frees *wanted. */
int xb_wanted_all(struct xb_txn *txn, struct xb_wanted **wanted, size_t *count);

#endif
