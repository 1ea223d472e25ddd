/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a list from the network must not be, beyond what every import refuses (engine/import.h). */
#ifndef XB_ENGINE_FEEDGUARD_H
#define XB_ENGINE_FEEDGUARD_H

#include "lists/items.h"

/* All zero: nothing is asked. */
struct xb_feed_guard {
	uint64_t most_entries; /* 0: any number */
	double share;	       /* of the address space of IPv4, and of 2000::/3, that may be listed;
				  0: all */
	const struct xb_entry *canaries;
	size_t canary_count;
};

enum xb_feed_why {
	XB_FEED_MANY_ENTRIES = 1,
	XB_FEED_SHARE,
	XB_FEED_CANARY,
};

struct xb_feed_refusal {
	enum xb_feed_why why;
	double share;		       /* that it lists */
	bool ipv6;		       /* with XB_FEED_SHARE: of which */
	struct xb_entry entry, canary; /* with XB_FEED_CANARY: what would list it */
};

/* Looks at a file that was read. Returns false if a guard refuses it. */
bool xb_feed_guard_check(const struct xb_feed_guard *guard, const struct xb_listfile *file,
			 struct xb_feed_refusal *refusal);

/* The share of its address space that the entries of the file list, or allow, whichever is more;
 * each address is counted once. */
double xb_feed_share(const struct xb_listfile *file, bool ipv6);

/* Whether a file begins as HTML does, behind blanks: a page that says something, but no list. */
bool xb_feed_is_html(const char *begin, size_t size);

#endif
