/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between this host and a snapshot: by digests what is the same, by Bloom digests
 * what this host surely has beyond it, and by chunks what is left: docs/design.md, "Comparing".
 */
#ifndef XB_BLOOMD_COMPARISON_H
#define XB_BLOOMD_COMPARISON_H

#include "bloomd/fleet/snapshotparts.h"
#include "store/store.h"

enum difference_kind {
	DIFFERENCE_MISSING, /* the snapshot has it */
	DIFFERENCE_EXTRA,   /* this host has it */
	DIFFERENCE_CHANGED, /* another expiry or comment */
};

/* What one side has of an entry; the comment is not terminated. */
struct difference_side {
	uint32_t expires; /* seconds since 1970; 0: never */
	uint32_t comment_size;
	const char *comment;
};

struct difference {
	enum difference_kind kind;
	char list[65];
	struct xb_entry entry;
	struct difference_side here, there; /* of those who have it */
};

struct compared_list {
	char name[65];
	uint64_t here, there; /* entries; expired ones do not count here */
	uint64_t missing, extra, changed;
	/* Differences that this host knows the reason of, which are not among these. */
	uint64_t of_log;    /* changes of the log that the snapshot does not have */
	uint64_t of_outbox; /* changes that are not in the log yet */
};

struct comparison {
	size_t limit; /* of differences that are kept; the caller sets it */
	bool behind;  /* this host has not taken the snapshot, or what leads to it */
	bool partial; /* it does not know all changes since then */
	uint64_t position;
	struct compared_list list[XB_SHARES_MAX];
	size_t list_count;
	struct difference *item; /* the first ones */
	size_t count, room;
	bool unfinished; /* parts are wanted; then nothing else counts */
	struct xb_arena bytes;
};
void comparison_free(struct comparison *comparison);

/* How many differences there are, kept or not. */
uint64_t comparison_total(const struct comparison *comparison);

/*
 * Compares the lists that this host follows, as it has them now (`now`: seconds since 1970), with
 * the snapshot, as far as its parts are there; those that it takes to go on are added to
 * parts->wanted. Called again with them, it comes to an end. Parts are checked. Returns 0 or an
 * error with its message; the caller frees the comparison in either case.
 */
int compare_with_snapshot(struct xb_txn *txn, uint32_t now, const struct snapshot_parts *parts,
			  const struct mac_key *key, struct comparison *comparison);

#endif
