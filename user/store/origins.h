/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The origins of lists: who has put addresses there beside those who add them one by one. A list
 * keeps them until it is empty. A program that does not know origins leaves them alone, and a store
 * that it wrote has none, but for lists that have an imprint: these were replaced by a file.
 */
#ifndef XB_STORE_ORIGINS_H
#define XB_STORE_ORIGINS_H

#include "model/origin.h"
#include "store/types.h"

/* A bit for each origin that the list has; none while it is empty. */
uint32_t xb_list_origins(const struct xb_list *list);

/* In a write transaction: addresses have come into the list, or were there already, from this
 * origin. */
void xb_list_come_from(struct xb_txn *txn, struct xb_list *list, enum xb_origin origin);

/* From the begin of a transaction, when its lists are loaded, to its commit, when the members of
 * its lists are what they will be. Each returns 0 or an error with its message. */
int xb_origins_load(struct xb_txn *txn);
int xb_origins_save(struct xb_txn *txn);

#endif
