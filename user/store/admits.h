/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom the policy allow-only admits of what is listed: the addresses in lists that do not only
 * count. */
#ifndef XB_STORE_ADMITS_H
#define XB_STORE_ADMITS_H

#include "store/types.h"

/* A list that admits sources. */
struct xb_admitting {
	char name[65];
	uint64_t sources;
	uint32_t origins; /* a bit for each, see store/origins.h */
};

struct xb_admits {
	uint64_t sources; /* addresses and prefixes, each once, of all lists together */
	struct xb_admitting *list;
	size_t count;
};

/* Looks at each listed address and prefix. Returns 0 or an error with its message; the caller frees
 * *admits in either case. */
int xb_admits_find(struct xb_txn *txn, struct xb_admits *admits);
void xb_admits_free(struct xb_admits *admits);

/* What the sizes of the lists say of it. False: perhaps something is admitted. */
bool xb_admits_none(const struct xb_txn *txn);

/* Whether this list may admit sources, by its size and its verdict. */
bool xb_admits_by(const struct xb_list *list);

#endif
