/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes this host has applied that the maker of a snapshot had not seen: those of the tail
 * that the snapshot does not cover. */
#ifndef XB_BLOOMD_UNCOVERED_H
#define XB_BLOOMD_UNCOVERED_H

#include "bloomd/fleet/manifest.h"
#include "store/outbox.h"

/* The last uncovered change of an entry. */
struct uncovered_change {
	struct xb_entry entry; /* first, for xb_entry_sort() */
	bool own, put;
	uint32_t expires; /* of a put */
};

/* Those of one list, in store order. */
struct uncovered_list {
	char name[65];
	struct uncovered_change *item;
	size_t count, room;
};

struct uncovered {
	bool partial;	 /* the tail does not have all of it */
	uint64_t newest; /* ms since 1970: when the newest entry of the tail was written; 0: it is
			    empty */
	struct uncovered_list list[XB_SHARES_MAX];
	size_t list_count;
	struct xb_arena names;
};

/*
 * Finds those of shared lists. An entry of the log is uncovered if its changes have higher numbers
 * than the manifest's mark of their publisher; positions do not tell, since a log that went on
 * another way after a failover has the same ones. Returns 0 or an error with its message; the
 * caller frees it in either case.
 */
int uncovered_find(struct xb_txn *txn, const struct xb_fleet *fleet,
		   const struct manifest *manifest, struct uncovered *uncovered);
void uncovered_free(struct uncovered *uncovered);

/* NULL: there is none. */
const struct uncovered_list *uncovered_of(const struct uncovered *uncovered, const char *list);

/* Puts those that are still in force into the outbox again: puts before deletes, so that what stays
 * listed is listed all the while. now: seconds since 1970. *count: how many. */
int uncovered_publish(struct xb_txn *txn, const struct uncovered *uncovered, uint32_t now,
		      uint64_t *count);

#endif
