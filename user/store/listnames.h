/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the lists that have an entry, kept beyond the transaction. */
#ifndef XB_STORE_LISTNAMES_H
#define XB_STORE_LISTNAMES_H

#include "store/membership.h"

struct xb_list_name {
	char text[sizeof(((struct xb_list *)0)->name)];
};

/* All zero: there are none. */
struct xb_list_names {
	struct xb_list_name *item;
	size_t count;
};

/* Copies the names of the lists in these memberships, in their order. only: identity of the one
 * list to include, or XB_ANY_LIST. Returns 0, or an error with its message; the caller frees the
 * names. */
int xb_list_names_of(struct xb_txn *txn, struct xb_members members, uint32_t only,
		     struct xb_list_names *names);
void xb_list_names_free(struct xb_list_names *names);

/* The kind of lifelines of the first automatic list among them; NULL: there is none. */
const char *xb_list_names_automatic(const struct xb_list_names *names);

#endif
