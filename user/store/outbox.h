/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The outbox: changes of published lists that were made here and are not in the fleet's log yet:
 * docs/design.md, "Fleet". Changes get there by store/membership. */
#ifndef XB_STORE_OUTBOX_H
#define XB_STORE_OUTBOX_H

#include "store/sharedchanges.h"

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
 * move behind it, because they may be right only after it. In a store that is an older copy, the
 * same numbers may have been given to other changes: those are appended again, too, and numbers
 * that are given later are higher than `last`.
 */
int xb_outbox_published(struct xb_txn *txn, const struct xb_shared_changes *published,
			uint64_t last);

/* The same when what was published is not known, but that everything up to `last` was: each put
 * that was ever replaced in its place is appended again; and everything if `last` was never given
 * here. What is appended since numbers were given twice is an own change that is published again:
 * nobody knows how old it is. */
int xb_outbox_forget(struct xb_txn *txn, uint64_t last);

/* Appends a change, or replaces one that waits, as docs/design.md says; a put also takes out a
 * delete that is published again. Within a transaction puts go before deletes: the caller gives
 * them in that order. */
int xb_outbox_put(struct xb_txn *txn, const struct xb_shared_change *change);

/* Appends such a change, unless another one of its list and entry waits. 1: it was appended; 0: it
 * was not. */
int xb_outbox_put_again(struct xb_txn *txn, const struct xb_shared_change *change,
			enum xb_again whose);

/* Another state of the fleet lists the entry, or does not. Takes out what waits here if it may be
 * older than that: what is OLDER, and if the entry is listed there, a delete that is published
 * again. 1: something was taken out; 0: nothing waits, or another change; negative: error. */
int xb_outbox_give_way(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
		       bool listed);

/*
 * The log has a change of the list and entry, which is to be applied. 1: one that waits here comes
 * later, so the other one is passed by; 0: none waits, or it makes way: one that is published again
 * may be older than the other one. A put stays all the same, unless the other one lists the entry
 * for as long: what was listed must not be lost by this. former: the other one is of a former entry
 * of the log, so that what waits is later: then only the same change makes way. It does so to the
 * next one that is not former, or with the commit; but not if another former one comes behind the
 * same, nor while former entries are missing. What is OLDER makes way to any.
 */
int xb_outbox_meets(struct xb_txn *txn, const struct xb_shared_change *other, bool former);

/* Says, until it is called again in this transaction, whether former entries are missing: at the
 * position of the log that is being read, or behind it. */
void xb_outbox_misses(struct xb_txn *txn, bool misses);

/* For the commit: takes out what makes way so. */
int xb_outbox_settle(struct xb_txn *txn);

#endif
