/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether sources that connect are to be remembered, and how. */
#ifndef XB_STORE_KNOWNWISH_H
#define XB_STORE_KNOWNWISH_H

#include "store/store.h"

/* By default a customer who comes once a month stays known; 200,000 of them take 1.2 MiB, and the
 * filter grows; of a flood one packet in a thousand gets through. */
#define XB_KNOWN_REMEMBER     (30 * 86400U)
#define XB_KNOWN_REMEMBER_MIN 3600U /* so that no date comes round before somebody saves */
#define XB_KNOWN_REMEMBER_MAX (3650 * 86400U)
#define XB_KNOWN_CAPACITY     200000ULL
#define XB_KNOWN_CAPACITY_MAX 10000000000ULL
#define XB_KNOWN_RATE	      1e-3

struct xb_known_wish {
	bool on;
	uint32_t remember; /* seconds; a source is known for at least so long, at most twice */
	uint64_t capacity; /* sources in such a time, at least */
	double rate;	   /* of strangers taken for known */
};

/* A store that says nothing wants it off; the other fields are then the defaults, or what was
 * wanted when it was on. */
int xb_known_wish_get(struct xb_txn *txn, struct xb_known_wish *wish);
int xb_known_wish_put(struct xb_txn *txn, const struct xb_known_wish *wish);

#endif
