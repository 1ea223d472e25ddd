/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the machine's lifelines on the allowlist, in lists of their own: auto:address and so on. */
#ifndef XB_ENGINE_AUTOALLOW_H
#define XB_ENGINE_AUTOALLOW_H

#include "attach/anchor.h"
#include "store/store.h"

struct xb_autoallow {
	const uint32_t *extra; /* ifindexes that will be filtered besides the wanted interfaces */
	size_t extra_count;
	char *const *left; /* names of interfaces that are not filtered, or no longer */
	size_t left_count;
	const char *run; /* the run directory */
	bool all; /* surveys all kinds; otherwise only this command's SSH session, which is quick */
};

/*
 * In a write transaction: allows the lifelines that a survey (machine/survey.h) finds for the
 * wanted interfaces and those in `extra`, and the peers of live SSH sessions, except for refused
 * kinds.
 *
 * A lifeline that is no longer found stays, because before its network is up a machine finds
 * nothing. It goes if its place shows something else, or a week after a survey with a network
 * missed it. Lifelines of interfaces in `left` go at once, unless the interface is wanted or in
 * `extra`. If no interface is filtered, a survey removes all lifelines. A failed survey causes a
 * warning, no error, and leaves the allowlist as it was.
 */
int xb_autoallow(struct xb_txn *txn, const struct xb_autoallow *asked);

/* In a write transaction: removes everything that is listed or allowed, except the lifelines. They
 * stay because a survey might not find them again now. */
int xb_autoallow_keep_only(struct xb_txn *txn);

#endif
