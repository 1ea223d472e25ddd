/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store knows of the fleet that this host belongs to: docs/design.md, "Fleet". */
#ifndef XB_STORE_FLEET_H
#define XB_STORE_FLEET_H

#include "store/store.h"

#define XB_FLEET_NAME  32 /* bytes of a fleet's name, at most, without a terminator */
#define XB_FLEET_ID    16 /* bytes of the identity of a host or an epoch, random */
#define XB_FLEET_CHAIN 16 /* bytes */

/* Positions in the log, and terms, are from 1 to here: they fit into the numbers of JSON, and the
 * next one is a number, too. */
#define XB_FLEET_POSITION_MAX ((uint64_t)INT64_MAX)

/* The record; there is none while the host is in no fleet. */
struct xb_fleet {
	char name[XB_FLEET_NAME + 1];
	uint8_t host[XB_FLEET_ID];  /* another one on a machine with another machine-id */
	uint8_t epoch[XB_FLEET_ID]; /* all zero: none yet */
	uint64_t term;		    /* of the epoch; each has a higher one than those before */
	uint64_t position;	    /* of the last entry of the log that the store has; 0: none */
	uint8_t chain[XB_FLEET_CHAIN]; /* of that entry */
};

/* 1: there is one; 0: there is none; negative: an error with its message. */
int xb_fleet_get(struct xb_txn *txn, struct xb_fleet *fleet);
int xb_fleet_put(struct xb_txn *txn, const struct xb_fleet *fleet);

/* Joins the fleet of this name: makes the record, with a new identity, unless it is there for this
 * name and this machine. Of another fleet, everything is forgotten first, as by xb_fleet_leave().
 */
int xb_fleet_join(struct xb_txn *txn, const char *name);

/* Forgets record, shares, outbox, tail, marks, former entries and lineage. What is listed stays. */
int xb_fleet_leave(struct xb_txn *txn);

/* --- shares --- */

/* struct xb_share, its flags, and struct xb_digest are in store/types.h and store/digest.h. */

/* Sets the flags of a list; 0: it is not shared any more. A list that is shared anew gets its
 * digest by a walk; if it is published anew, its entries go to the outbox as puts. What waits in
 * the outbox of a list that is not published any more goes on waiting: it was promised. */
int xb_share_set(struct xb_txn *txn, const char *list, uint32_t flags);

/* Of this transaction; valid until shares are set. NULL: the list is not shared. */
const struct xb_share *xb_share_of(const struct xb_txn *txn, const char *list);
const struct xb_share *xb_shares(const struct xb_txn *txn, size_t *count);

/* The digest without what has expired by `now` (seconds since 1970). */
int xb_share_digest(struct xb_txn *txn, const struct xb_share *share, uint32_t now,
		    struct xb_digest *digest);

/* Whether local commands may change the list: false if it is followed and not published. Records no
 * message. */
bool xb_share_is_ours(const struct xb_txn *txn, const char *list);
/* 0, or if they may not, an input error. */
int xb_share_check_ours(struct xb_txn *txn, const char *list);

/* From here to the end of the transaction, changes of shared lists come from the fleet: they do not
 * go to the outbox. */
void xb_fleet_applies(struct xb_txn *txn, bool applies);

/* --- marks and lineage --- */

/* The number of the last change of the publisher that is in the log; 0: none. */
int xb_fleet_mark_get(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t *last);
/* Raises it; a lower one changes nothing. */
int xb_fleet_mark_raise(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t last);
/* Sets it, also to a lower one: the log has lost what was behind. */
int xb_fleet_mark_set(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t last);

struct xb_fleet_mark {
	uint8_t publisher[XB_FLEET_ID];
	uint64_t last;
};
/* All that are not 0; the caller frees *marks. */
int xb_fleet_marks(struct xb_txn *txn, struct xb_fleet_mark **marks, size_t *count);

/*
 * Former entries of the log: this host has applied them, and went back in the log since. If they
 * come again, byte for byte, they are no news: what the store has now, it has after them. The chain
 * tells which they are.
 */
#define XB_FLEET_FORMER_MOST 65536 /* of those from behind, others are forgotten */
int xb_fleet_former_put(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN]);
/* 1: it is one; 0: it is not, or not known to be. */
int xb_fleet_former_has(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN]);
/* It was applied again. */
int xb_fleet_former_end(struct xb_txn *txn, uint64_t position, const uint8_t chain[XB_FLEET_CHAIN]);
/* The highest position of one; 0: there is none. */
int xb_fleet_former_last(struct xb_txn *txn, uint64_t *position);
/* Forgets the first ones that are too many. */
int xb_fleet_former_trim(struct xb_txn *txn);

#define XB_LINEAGE_MAX 64 /* older epochs are forgotten */

/* An earlier epoch, and the last position in it that the state includes. */
struct xb_ancestor {
	uint8_t epoch[XB_FLEET_ID];
	uint64_t term, position;
};
/* Newest first, the present epoch not among them. Returns how many, or a negative error. */
int xb_fleet_lineage_get(struct xb_txn *txn, struct xb_ancestor lineage[XB_LINEAGE_MAX]);
int xb_fleet_lineage_put(struct xb_txn *txn, const struct xb_ancestor *lineage, size_t count);

#endif
