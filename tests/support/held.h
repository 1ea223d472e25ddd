/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an entry in the list "bans", as a test draws it. */
#ifndef XB_TEST_HELD_H
#define XB_TEST_HELD_H

#include "support/fleethosts.h"

/* What a list may have of an entry. */
struct held {
	bool is;
	uint32_t expires;
	const char *comment;
};

static inline void put_state(struct xb_txn *txn, const char *text, const struct held *held)
{
	if (held->is)
		list_with(txn, text, "bans", held->expires, held->comment);
}

static inline bool lives(const struct held *held)
{
	return held->is && (!held->expires || held->expires > NOW);
}

#endif
