/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of shared lists on their way through a transaction: into the digest at once, and with the
 * commit, reduced to their net result, into the outbox. */
#ifndef XB_STORE_SHARING_H
#define XB_STORE_SHARING_H

#include "store/types.h"

/* An entry that came into a shared list (before: NULL), left it (after: NULL), or whose membership
 * changed. publishes: unless it has expired. Entries that no fleet shares are passed by. */
int xb_sharing_note(struct xb_txn *txn, struct xb_share *share, const struct xb_entry *entry,
		    const struct xb_membership *before, const struct xb_membership *after,
		    bool publishes);

/*
 * Puts what was noted into the outbox: for each list and entry its net result, first the puts, then
 * the deletes, so that after any part of them a source that stays listed is listed. -EIO with a
 * message.
 */
int xb_sharing_settle(struct xb_txn *txn);

#endif
