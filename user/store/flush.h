/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking out many entries at once. */
#ifndef XB_STORE_FLUSH_H
#define XB_STORE_FLUSH_H

#include "store/store.h"

/* Both leave what is listed by lists that are shared with a fleet; what these have on the allowlist
 * is not shared. */

/* Removes everything, the allowlist too. */
int xb_flush_all(struct xb_txn *txn);

/* Removes everything that is listed. */
int xb_flush_listed(struct xb_txn *txn);

/* Removes what is listed from the list; *count: how many entries it had. Its entries of the
 * allowlist stay. */
int xb_flush_list(struct xb_txn *txn, uint32_t list, uint64_t *count);

#endif
