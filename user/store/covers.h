/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries that cover one: itself, and all that are wider. */
#ifndef XB_STORE_COVERS_H
#define XB_STORE_COVERS_H

#include "store/membership.h"

/* A walk from the longest of them to the shortest. */
struct xb_covers {
	struct xb_entry entry; /* after a step; a name of it lasts to the next one */
	struct xb_entry next;
	bool more;
	uint8_t form[XB_NAME_BYTES];
};

/* A domain stands for a query for its name, so an entry for that name alone covers it too. A name
 * stays the caller's. */
void xb_covers_begin(const struct xb_entry *asked, struct xb_covers *covers);

/* 1: an entry, in any list, and its memberships; 0: no more; negative: error. */
int xb_covers_next(struct xb_txn *txn, struct xb_covers *covers, struct xb_members *members);

#endif
