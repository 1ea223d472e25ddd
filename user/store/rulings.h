/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each list says of a name: by its own most specific entry that covers the name, it lists it
 * or lets it pass. */
#ifndef XB_STORE_RULINGS_H
#define XB_STORE_RULINGS_H

#include "store/membership.h"

struct xb_ruling {
	struct xb_entry entry;	   /* XB_NAME: it lists; XB_EXCEPT_NAME: it lets pass */
	struct xb_members members; /* of the entry, all of them */
	uint32_t list;
};

/* A walk over the lists that say something, from the most specific entry to the widest. */
struct xb_rulings {
	struct xb_ruling at;
	struct xb_entry next;
	struct xb_members rest; /* of the entry, those that are still to come */
	bool more;
	uint32_t *seen; /* lists */
	size_t count, room;
	uint8_t form[XB_NAME_BYTES + 1];
};

/* Begins a walk; `name` need not outlive this call. A name that stands for all below it is asked
 * about as such: entries for the name alone do not count. */
void xb_rulings_begin(const struct xb_entry *name, struct xb_rulings *rulings);

/* The same for a query for the name, for which entries for that name alone count too. */
void xb_rulings_begin_query(const struct xb_entry *name, struct xb_rulings *rulings);

/* Steps to the next list. Returns 1, and rulings->at is valid until the next call or look into the
 * store; 0 if there is no more; or a negative error with its message. */
int xb_rulings_next(struct xb_txn *txn, struct xb_rulings *rulings);
void xb_rulings_end(struct xb_rulings *rulings);

/* The strictest verdict of the lists that list the name; XB_DOMAIN_VERDICTS: none does. Returns 0,
 * or an error with its message. */
int xb_name_verdict(struct xb_txn *txn, const struct xb_entry *name, uint32_t *verdict);

/* The same of a query for the name. */
int xb_query_verdict(struct xb_txn *txn, const struct xb_entry *name, uint32_t *verdict);

/*
 * What the filter has of a name, see XB_DOMAIN_FINAL in xdp_bloom/layout.h: where no list excepts
 * it, the strictest verdict of those that name it, and otherwise what xb_name_verdict() says, as
 * final. -ENOENT without a message: no list names it.
 */
int xb_name_slot(struct xb_txn *txn, const struct xb_entry *name, uint32_t *slot);

#endif
