/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is listed at one moment, as a generation needs it: the input of a build. */
#ifndef XB_FILTER_SNAPSHOT_H
#define XB_FILTER_SNAPSHOT_H

#include "store/store.h"

struct xb_named {
	struct xb_entry entry;
	enum xb_domain_verdict verdict;
};

struct xb_snapshot {
	uint32_t *host4; /* addresses, host byte order, prefixes from /25 on expanded */
	size_t host4_count;
	struct xb_entry *net6;
	size_t net6_count;
	struct xb_entry *prefix4;
	size_t prefix4_count;
	struct xb_entry *allow;
	size_t allow_count;
	struct xb_named *names;
	size_t names_count;
	struct xb_arena arena; /* has the bytes of all names */
};

/* Reads everything the transaction sees, in store order. */
int xb_snapshot_take(struct xb_txn *txn, struct xb_snapshot *keys);
void xb_snapshot_free(struct xb_snapshot *keys);

#endif
