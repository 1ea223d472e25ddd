/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Earlier versions kept ::ffff:192.0.2.1 as it was typed. No packet has such a source, so these
 * entries matched nothing: they become the IPv4 entries they mean. */
#ifndef XB_STORE_MAPPED_H
#define XB_STORE_MAPPED_H

#include "model/entry.h"
#include "store/membership.h"

/* What became of them. */
struct xb_mapped {
	uint64_t moved, left_out;
	struct xb_entry first; /* of those left out, as IPv4 */
};

/* Whether there are any. What cannot be read is told by whoever needs it. */
bool xb_mapped_any(struct xb_txn *txn);

/*
 * In a write transaction that has swept what has expired: moves them all, listed and allowed ones.
 * One that nobody could list without --force is taken out instead: it never matched, and now it
 * would block or exempt much of the Internet.
 */
int xb_mapped_move(struct xb_txn *txn, struct xb_mapped *mapped);

/* Puts the IPv4 entry that is meant into the list, or counts it as left out. Of a membership that
 * is there already the comment stays, if there is one, and the later end counts. */
int xb_mapped_put(struct xb_txn *txn, const struct xb_entry *meant,
		  const struct xb_membership *member, struct xb_mapped *mapped);

/* A note for those left out. */
void xb_mapped_tell_left_out(const struct xb_mapped *mapped);

#endif
