/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict that a list gives to queries for its domains. */
#ifndef XB_STORE_LISTVERDICT_H
#define XB_STORE_LISTVERDICT_H

#include "store/store.h"

/* In a write transaction: gives the list its verdict, an enum xb_domain_verdict. */
int xb_domain_verdict_set(struct xb_txn *txn, struct xb_list *list, uint32_t verdict);

#endif
