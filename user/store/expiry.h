/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When memberships end: swept out by whoever writes, overlooked by whoever shows what is listed. */
#ifndef XB_STORE_EXPIRY_H
#define XB_STORE_EXPIRY_H

#include "store/store.h"

/* The time at which something that lasts this many seconds from now ends; 0 lasts for ever. An
 * input error if the time is too late to be stored. */
int xb_expiry_after(uint32_t now, uint32_t seconds, uint32_t *expires);

/* Takes out every membership that has expired by now. *count (may be NULL): how many. */
int xb_expiry_sweep(struct xb_txn *txn, uint32_t now, uint64_t *count);

/* The same for those that expired first, at most so many. If *count is that number, there may be
 * more; then xb_expiry_settle() goes before each look at an entry, and each change of it. */
int xb_expiry_sweep_some(struct xb_txn *txn, uint32_t now, uint64_t most, uint64_t *count);

/* Takes out what has expired of one entry. Adds their number to *count. */
int xb_expiry_settle(struct xb_txn *txn, const struct xb_entry *entry, uint32_t now,
		     uint64_t *count);

/* The earliest time at which a membership expires, which may be past. -ENOENT without a message:
 * none ever does. */
int xb_expiry_next(struct xb_txn *txn, uint32_t *when);

/* Calls back for each membership that has expired by now and was not swept; a value other than 0
 * ends this and is returned. The callback changes nothing. */
int xb_expiry_visit(struct xb_txn *txn, uint32_t now,
		    int (*visit)(struct xb_txn *txn, uint32_t list, const struct xb_entry *entry,
				 void *context),
		    void *context);

/*
 * For a transaction that reads in order to show what is listed: hides what has expired by now, as
 * if it had been swept, from memberships, totals and lists. *count: the number of hidden
 * memberships, which the kernel still enforces. An entry whose memberships have all expired is
 * found with none.
 */
int xb_expiry_overlook(struct xb_txn *txn, uint32_t now, uint64_t *count);

/* The same, but totals and lists still count what has expired beyond so many memberships. */
int xb_expiry_overlook_some(struct xb_txn *txn, uint32_t now, uint64_t most, uint64_t *count);

#endif
