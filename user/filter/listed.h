/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What maps without counters ask the store when something is taken out of them. */
#ifndef XB_FILTER_LISTED_H
#define XB_FILTER_LISTED_H

#include "store/store.h"

/* 1: the entry is listed for all services; 0: it is not; or an error. */
int xb_listed_for_all(struct xb_txn *txn, const struct xb_entry *entry);

/* The same for the prefixes that cover it. */
int xb_listed_around(struct xb_txn *txn, const struct xb_entry *prefix);

#endif
