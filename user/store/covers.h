/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the entries that cover a given one: itself and all wider ones. */
#ifndef XB_STORE_COVERS_H
#define XB_STORE_COVERS_H

#include "store/membership.h"

/* A walk from the narrowest of them to the widest. */
struct xb_covers {
	struct xb_entry entry; /* of the last step; its name is valid until the next one */
	struct xb_entry next;
	bool more;
	uint8_t form[XB_NAME_BYTES];
};

/* Begins a walk; `asked` need not outlive this call. A domain stands also for a query for its name,
 * so an entry for that name alone covers it too. */
void xb_covers_begin(const struct xb_entry *asked, struct xb_covers *covers);

/* Steps to the next entry that is in a list. Returns 1 with its memberships, 0 if there is no more,
 * or a negative error. */
int xb_covers_next(struct xb_txn *txn, struct xb_covers *covers, struct xb_members *members);

#endif
