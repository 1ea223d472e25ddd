/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The newest entries of the fleet's log that this host has applied, as they came:
 * docs/design.md, "Fleet". */
#ifndef XB_STORE_LOGTAIL_H
#define XB_STORE_LOGTAIL_H

#include "store/fleet.h"

#define XB_LOGTAIL_BYTES ((uint64_t)64 << 20) /* what is older is forgotten */

/* In a write transaction: appends the entry; with a position that is there already, it and those
 * behind it are replaced (rewind). Its term goes into the order, so that epochs do not mix. */
int xb_logtail_append(struct xb_txn *txn, uint64_t term, uint64_t position, const void *entry,
		      size_t size);

/* Takes out what is behind the position of this term. */
int xb_logtail_cut(struct xb_txn *txn, uint64_t term, uint64_t position);

/* The entry, valid until the transaction changes or ends. 1: there is one; 0: there is none;
 * negative: error. */
int xb_logtail_get(struct xb_txn *txn, uint64_t term, uint64_t position, const void **entry,
		   size_t *size);

/* The first position of the term from which on the tail has all up to its last; 0, 0: none. */
int xb_logtail_span(struct xb_txn *txn, uint64_t term, uint64_t *first, uint64_t *last);

#endif
