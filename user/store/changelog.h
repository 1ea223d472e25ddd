/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change log in the store: what each transaction changed, kept until every generation that
 * needs it has it. */
#ifndef XB_STORE_CHANGELOG_H
#define XB_STORE_CHANGELOG_H

#include "store/store.h"

/* Draws the next sequence number and the mark that goes with it. A filter that has all changes
 * up to it carries both. */
void xb_changelog_advance(struct xb_txn *txn);

/* Advances the sequence, and logs the transaction's changes under the new number, one by one
 * unless they are bulk. */
int xb_changelog_append(struct xb_txn *txn, bool bulk);

/* Deletes the records up to and including `sequence`. */
int xb_changelog_trim(struct xb_txn *txn, uint64_t sequence);

/* Where a logged change begins and ends: marks, see struct xb_meta. */
struct xb_step {
	uint64_t from, to;
};

/*
 * Reads the changes of one sequence number into *changes, which the caller frees. -ENOENT without a
 * message: they are not in the log.
 */
int xb_changelog_read(struct xb_txn *txn, uint64_t sequence, struct xb_step *step,
		      struct xb_changes *changes);

#endif
