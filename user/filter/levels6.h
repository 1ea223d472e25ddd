/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv6 prefixes from /33 on, of lengths that lie close together, are made prefixes of one length:
 * the *level* of these lengths. A packet then looks up fewer lengths (controlled prefix expansion:
 * Srinivasan, Varghese, ACM Transactions on Computer Systems, 1999). */
#ifndef XB_FILTER_LEVELS6_H
#define XB_FILTER_LEVELS6_H

#include <stddef.h>

#include "model/entry.h"
#include "xdp_bloom/layout.h"

/* The level of each length, for these entries: few levels, but not many more keys than entries. A
 * length that no entry has goes with those around it, or is its own level. */
void xb_levels6_choose(const struct xb_entry *entries, size_t count, struct xb_levels6 *levels);

static inline uint8_t xb_levels6_of(const struct xb_levels6 *levels, const struct xb_entry *entry)
{
	return levels->of[entry->length - XB_LEVELS6_FIRST];
}

/* Keys of the Bloom filter and the exact table that the entry has. */
static inline uint32_t xb_levels6_keys(const struct xb_levels6 *levels,
				       const struct xb_entry *entry)
{
	return 1U << (xb_levels6_of(levels, entry) - entry->length);
}

/* The i-th of them, as a prefix. */
struct xb_entry xb_levels6_key(const struct xb_levels6 *levels, const struct xb_entry *entry,
			       uint32_t i);

/* All keys of these entries, in the order of the entries. *keys: to be freed by the caller; NULL if
 * none becomes longer, so that the entries are the keys. */
int xb_levels6_expand(const struct xb_levels6 *levels, const struct xb_entry *entries, size_t count,
		      struct xb_entry **keys, size_t *key_count);

#endif
