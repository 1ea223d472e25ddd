/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listed entries that will not be dropped, because they are on the allowlist. */
#ifndef XB_STORE_EXEMPT_H
#define XB_STORE_EXEMPT_H

#include "store/store.h"

struct xb_exemptions {
	uint64_t count;
	/* The first of them. */
	struct xb_entry listed, allowed;
	char why[160]; /* "gateway, default route of eth0", "list office" */
};

/* Adds to *exemptions, all zero before the first call, the entries of the allowlist that cover this
 * listed address or prefix, or lie in it. Ignores names; does nothing under allow-only, where
 * listed sources pass. */
int xb_exempt_entry(struct xb_txn *txn, const struct xb_entry *listed,
		    struct xb_exemptions *exemptions);

/* Does the same for a whole list, but only with entries of the allowlist that one of its entries
 * covers. */
int xb_exempt_list(struct xb_txn *txn, uint32_t list, struct xb_exemptions *exemptions);

#endif
