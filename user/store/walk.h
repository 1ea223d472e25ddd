/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking over the entries in store order, each with the lists that name it. */
#ifndef XB_STORE_WALK_H
#define XB_STORE_WALK_H

#include "store/membership.h"

/*
 * A walk over the entries in store order: what is listed, or the allowlist. `entry` and `members`
 * are valid after a call that returned 1, `members` until the transaction changes or, if it writes,
 * looks for an entry. Either may happen between calls.
 */
struct xb_walk {
	struct xb_txn *txn;
	struct xb_scan scan;
	struct xb_entry entry;
	struct xb_members members;
	bool started, allow;
	uint8_t name[XB_NAME_BYTES];
};

#define XB_WALK_LISTED ((struct xb_entry){.kind = XB_PREFIX4})
#define XB_WALK_ALLOW  ((struct xb_entry){.kind = XB_ALLOW4})
#define XB_WALK_NAMES  ((struct xb_entry){.kind = XB_NAME, .name = (const uint8_t *)""})

/* Starts at the first entry not before `from`, and stays on its side: listed or allowed. Of a name,
 * the entry of the walk has a copy that lasts to the next step. */
int xb_walk_begin(struct xb_walk *walk, struct xb_txn *txn, const struct xb_entry *from);
int xb_walk_next(struct xb_walk *walk); /* 1: an entry; 0: the end; negative: error */
void xb_walk_end(struct xb_walk *walk);

/*
 * Calls back for each entry from `from` on, or, with inside, for each that lies in `from` or is it:
 * what lies in an IPv4 prefix, or in a domain, stands in two places. What the callback returns
 * other than 0 ends this and is returned. It changes nothing.
 */
int xb_walk_visit(struct xb_txn *txn, const struct xb_entry *from, bool inside,
		  int (*visit)(const struct xb_walk *walk, void *context), void *context);

/* 1: the list has domains that are listed; 0: none; negative: error. */
int xb_walk_finds_names(struct xb_txn *txn, const struct xb_list *list);

#endif
