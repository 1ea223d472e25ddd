/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes in place, in a generation that enforces meanwhile. */
#ifndef XB_FILTER_APPLY_H
#define XB_FILTER_APPLY_H

#include "filter/generation.h"

/*
 * Applies the steps of settled changes (filter/namesteps.h), the last of which has this sequence
 * number, in the order of filter/phase.h, in force for the next packet. txn: a transaction that has
 * them. On failure the generation stays marked dirty; -EXFULL without a message: the confirm stage
 * has no place for a key, but a new generation will have.
 */
int xb_apply(struct xb_generation *generation, struct xb_txn *txn, const struct xb_changes *changes,
	     uint64_t sequence);

/*
 * Brings the generation to the transaction's sequence number from the log. -ENOENT without a
 * message: the log does not have it all, or has it in bulk.
 */
int xb_apply_replay(struct xb_generation *generation, struct xb_txn *txn);

/* For tests: called after each single change of xb_apply(); NULL: not at all. */
extern void (*xb_apply_stepped)(void);

#endif
