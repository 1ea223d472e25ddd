/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lists have an entry, by name, for what outlives the transaction. */
#ifndef XB_STORE_LISTNAMES_H
#define XB_STORE_LISTNAMES_H

#include "store/membership.h"

struct xb_list_name {
	char text[sizeof(((struct xb_list *)0)->name)];
};

/* All zero is none. */
struct xb_list_names {
	struct xb_list_name *item;
	size_t count;
};

/* The lists of these memberships, in their order; of them `only`, or XB_ANY_LIST. 0, or an error
 * with its message; the caller frees the names. */
int xb_list_names_of(struct xb_txn *txn, struct xb_members members, uint32_t only,
		     struct xb_list_names *names);
void xb_list_names_free(struct xb_list_names *names);

/* The first automatic one among them, by the kind of its lifelines; NULL: there is none. */
const char *xb_list_names_automatic(const struct xb_list_names *names);

#endif
