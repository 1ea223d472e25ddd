/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a snapshot of what the store has of the fleet's lists, and brings the store to the state of
 * one, by difference. Both are work for a process of its own. */
#ifndef XB_BLOOMD_SNAPSHOT_H
#define XB_BLOOMD_SNAPSHOT_H

#include "bloomd/fleet/manifest.h"
#include "engine/context.h"

/*
 * Writes the chunks one after the other into the file `chunks` (an empty memfd or temporary file),
 * their Bloom digests into `blooms`, and fills in the manifest, the id too. The transaction reads;
 * shares are those to be in it. begins: the log begins anew with it, so what waits in the outbox
 * may be in it, too; then this host's epoch becomes the newest of the lineage, and the caller fills
 * in the term (it is set to the next one), epoch, position and chain of what begins. Otherwise
 * -EAGAIN without a message: the outbox is not empty. `before` is the caller's. The caller frees
 * the manifest in either case.
 */
int snapshot_make(struct xb_txn *txn, const struct mac_key *key, bool begins, int chunks,
		  int blooms, struct manifest *manifest);

struct snapshot_terms {
	const struct manifest *manifest;
	int chunks; /* file that has them one after the other; each is checked by its MAC */
	const struct mac_key *key;
	double factor; /* by which a list may shrink; 0: 2, or by fewer than 1,000 entries */
	bool accept;   /* an operator has said yes */
};

enum snapshot_outcome {
	SNAPSHOT_TAKEN,
	SNAPSHOT_HELD, /* too much would be taken out of lists: nothing was changed */
};

struct snapshot_shrink {
	char list[65];
	uint64_t before, after; /* its entries */
	uint64_t loses;		/* how many of them would be taken out */
};

struct snapshot_result {
	enum snapshot_outcome outcome;
	struct snapshot_shrink held[XB_SHARES_MAX]; /* what an operator has to accept */
	size_t held_count;
	uint64_t added, renewed, removed, unchanged, kept; /* kept: passed by */
	uint64_t republished; /* own changes that went to the outbox again */
	uint64_t given;	      /* entries that only this host has, and that go there, too */
	bool partial;	      /* the tail did not reach: nothing was taken out */
	bool away;	      /* for so long that what only this host has does not go there */
};

/*
 * The body of a write: what docs/design.md says of a resync, for the lists that the store follows.
 * One that the snapshot does not have stays as it is. Returns 0 (see result->outcome; after
 * SNAPSHOT_HELD the caller gives up the transaction), or an error with its message.
 */
int snapshot_take(struct xb_writer *writer, const struct snapshot_terms *terms,
		  struct snapshot_result *result);

#endif
