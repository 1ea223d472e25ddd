/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Earlier versions kept ::ffff:192.0.2.1 as it was typed. No packet has such a source, so these
 * entries matched nothing: they become the IPv4 entries they mean. */
#ifndef XB_STORE_MAPPED_H
#define XB_STORE_MAPPED_H

#include "model/entry.h"
#include "store/membership.h"

/* Counts of what happened to these entries. */
struct xb_mapped {
	uint64_t moved, left_out;
	struct xb_entry first; /* of those left out, as IPv4 */
};

/* Whether there are any. If the store cannot be read, the next function that reads it reports
 * the error. */
bool xb_mapped_any(struct xb_txn *txn);

/*
 * In a write transaction that has swept expired entries: moves all of these entries, listed and
 * allowed ones. An entry that nobody could list without --force is removed instead: it never
 * matched, and now it would block or exempt much of the Internet.
 */
int xb_mapped_move(struct xb_txn *txn, struct xb_mapped *mapped);

/* Puts the IPv4 entry that is meant into the list, or counts it as left out. If the list has
 * that entry already, its comment stays if there is one, and the later end counts. */
int xb_mapped_put(struct xb_txn *txn, const struct xb_entry *meant,
		  const struct xb_membership *member, struct xb_mapped *mapped);

/* Prints a notice about the entries that were left out. */
void xb_mapped_tell_left_out(const struct xb_mapped *mapped);

#endif
