/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outbox: changes of published lists that were made here and are not in the fleet's log yet:
 * docs/design.md, "Fleet". Changes get there by store/membership. */
#ifndef XB_STORE_OUTBOX_H
#define XB_STORE_OUTBOX_H

#include "store/types.h"

/* Whether a fleet shares the entry: it is listed, not allowed, and not too wide for an import. */
bool xb_entry_is_shared(const struct xb_entry *entry);

/* A change of a shared list. */
struct xb_shared_change {
	struct xb_entry entry; /* one that is shared; the function says who owns a name */
	const char *list;
	bool put;		 /* false: a delete; the fields below are 0 then */
	uint32_t added, expires; /* seconds since 1970; expires 0: never */
	const char *comment;	 /* UTF-8, not terminated */
	uint32_t comment_size;
};

/* Several, with what they point to. All zero: none. */
struct xb_shared_changes {
	struct xb_shared_change *item;
	uint64_t *number; /* of each in the outbox; NULL unless they were read from there */
	size_t count, room;
	struct xb_arena bytes;
};
void xb_shared_changes_free(struct xb_shared_changes *changes);
/* Appends a copy. Returns 0 or an error with its message. */
int xb_shared_changes_add(struct xb_shared_changes *changes, const struct xb_shared_change *change);

/* How many wait, and the numbers of the first and the last one; 0, 0, 0: none. */
int xb_outbox_span(struct xb_txn *txn, uint64_t *count, uint64_t *first, uint64_t *last);

/* The number that was given last, also if that change is in the log by now; 0: none was. */
int xb_outbox_last_number(struct xb_txn *txn, uint64_t *last);

/* The first ones, at most so many, in order, at most about so many bytes. The caller frees. */
int xb_outbox_read(struct xb_txn *txn, size_t most, size_t bytes,
		   struct xb_shared_changes *changes);

/* 1: a change of this list and entry waits; 0: none does; negative: error. */
int xb_outbox_waits(struct xb_txn *txn, const char *list, const struct xb_entry *entry);

/*
 * In a write transaction: the log has these changes, which are all from the outbox, in its order,
 * with numbers up to `last`. Takes out what is numbered so. A put that was replaced meanwhile, so
 * that it differs from the published one, is appended again under a new number; waiting deletes
 * move behind it, because they may be right only after it. Numbers that are given later are higher
 * than `last`, also in a store that is an older copy.
 */
int xb_outbox_published(struct xb_txn *txn, const struct xb_shared_changes *published,
			uint64_t last);

/* The same when what was published is not known, but that everything up to `last` was: each put
 * that was ever replaced in its place is appended again. */
int xb_outbox_forget(struct xb_txn *txn, uint64_t last);

/* Appends a change, or replaces one that waits, as docs/design.md says. Within a transaction puts
 * go before deletes: the caller gives them in that order. */
int xb_outbox_put(struct xb_txn *txn, const struct xb_shared_change *change);

#endif
