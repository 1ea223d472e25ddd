/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact map of IPv4 prefixes up to /24. It has no counters: a delete looks into the store
 * for what is left. */
#ifndef XB_FILTER_PREFIXMAP_H
#define XB_FILTER_PREFIXMAP_H

#include "base/mapping.h"
#include "store/store.h"

/* All for XB_PREFIX4 entries. Maps the words the prefix covers. */
int xb_prefixmap_prepare(struct xb_mapping *words, const struct xb_entry *prefix);

void xb_prefixmap_add(struct xb_mapping *words, const struct xb_entry *prefix);

/* Sets the words under the prefix from the prefixes that the transaction still lists. May be
 * repeated. */
int xb_prefixmap_settle(struct xb_mapping *words, struct xb_txn *txn,
			const struct xb_entry *prefix);

bool xb_prefixmap_contains(const struct xb_mapping *words, uint32_t address);

#endif
