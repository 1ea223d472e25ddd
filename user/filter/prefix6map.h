/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact map of IPv6 prefixes up to /32: a directory of /16s, and pages with a bit for each /32,
 * as layout.h says. It has no counters: a delete looks into the store for what is left. */
#ifndef XB_FILTER_PREFIX6MAP_H
#define XB_FILTER_PREFIX6MAP_H

#include "base/mapping.h"
#include "store/store.h"
#include "xdp_bloom/layout.h"

struct xb_prefix6map {
	struct xb_mapping *words;
	uint32_t pages;	 /* that there is room for */
	uint32_t *taken; /* of them, from the first on; a page never comes to another /16 */
};

/* Whether the map has the entry, which is for all services: an IPv6 prefix up to /32. */
static inline bool xb_prefix6map_takes(const struct xb_entry *entry)
{
	return entry->kind == XB_NET6 && entry->length <= XB_PREFIX6_LENGTH;
}

/* Pages for these prefixes, sorted, and some to come. */
uint32_t xb_prefix6map_pages(const struct xb_entry *prefixes, size_t count);

/* Maps all that the prefix touches. `more`: new pages that prefixes of the same change may take. */
int xb_prefix6map_prepare(const struct xb_prefix6map *map, const struct xb_entry *prefix,
			  uint32_t more);

/* -EXFULL without a message: no page is left. */
int xb_prefix6map_add(const struct xb_prefix6map *map, const struct xb_entry *prefix);

/* Sets what lies under the prefix from the prefixes that the transaction still lists. May be
 * repeated. -EXFULL as above. */
int xb_prefix6map_settle(const struct xb_prefix6map *map, struct xb_txn *txn,
			 const struct xb_entry *prefix);

/* Which of 64 /32s in a row lie in something listed, among them the one with these first 32 bits:
 * bit head % 64. All is mapped. */
uint64_t xb_prefix6map_word(const struct xb_prefix6map *map, uint32_t head);

#endif
