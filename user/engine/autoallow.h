/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping the machine's lifelines on the allowlist, in lists of their own: auto:address and so on.
 */
#ifndef XB_ENGINE_AUTOALLOW_H
#define XB_ENGINE_AUTOALLOW_H

#include "attach/anchor.h"
#include "store/store.h"

struct xb_autoallow {
	const uint32_t *extra; /* interfaces to be filtered beside the wanted ones, by number */
	size_t extra_count;
	char *const *left; /* those that are not, or no more, by name */
	size_t left_count;
	bool all;
};

/*
 * In a write transaction: allows what machine/lifelines.h finds for the wanted interfaces and those
 * in `extra` and the SSH sessions that live, but for kinds that are refused. What was found before
 * and is not found now goes only when its place shows something else, or when it was not found for
 * a week in which the machine had a network: before its network is up, a machine finds nothing.
 * What was found on interfaces in `left` goes at once, unless they are wanted or in `extra` all
 * the same. Without an interface nothing is allowed. all: look at everything; else only at the SSH
 * session that runs the command, which is quick.
 */
int xb_autoallow(struct xb_txn *txn, const struct xb_autoallow *asked);

/* Removes all that is listed or allowed, but what was found so: a survey may see no network now. */
int xb_autoallow_keep_only(struct xb_txn *txn);

#endif
