/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which IPv6 prefix lengths a source can match: the table behind struct xb_lengths. Bits are set,
 * never cleared. */
#ifndef XB_FILTER_LENGTHMAP_H
#define XB_FILTER_LENGTHMAP_H

#include "model/entry.h"
#include "xdp_bloom/layout.h"

/* The cell an entry marks: 0 for lengths below XB_LENGTH_SPLIT, else by its first 32 bits. cells:
 * without cell 0. */
uint32_t xb_lengthmap_cell(const struct xb_key *key, uint32_t cells, const struct xb_entry *entry);

/* Marks the entry's length, atomically. Returns the largest number of probes that a source on
 * this cell now costs; 0 for cell 0, which adds to those of every other. */
uint32_t xb_lengthmap_mark(struct xb_lengths *table, uint32_t cell, const struct xb_entry *entry);

/* The most probes any source costs. */
uint32_t xb_lengthmap_most(const struct xb_lengths *table, uint32_t cells);

#endif
