/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which IPv6 prefix lengths from /33 on a source can match: slots, cells, and the table of lengths
 * that have no slot, as struct xb_slots6 says. Bits are set, never cleared, each when what is in
 * front of it can be found. */
#ifndef XB_FILTER_SLOTMAP_H
#define XB_FILTER_SLOTMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "model/entry.h"
#include "xdp_bloom/layout.h"

/* The tables of a generation, or of one that is laid out. */
struct xb_slotmap {
	struct xb_slots6 *slots;
	uint64_t *cells;
	struct xb_lengths *others;
	const struct xb_params *params; /* sizes and keys */
};

/* What tables for these entries, sorted, would need. */
struct xb_slotmap_plan {
	uint8_t length[XB_SLOTS6]; /* of the slots */
	uint32_t count;		   /* slots in use */
	bool direct;		   /* all of them are looked up for every packet */
	uint32_t cell_words, length_cells;
};
struct xb_slotmap_plan xb_slotmap_plan(const struct xb_entry *entries, size_t count);

/* Gives the lengths of a plan their slots. The tables are empty. */
void xb_slotmap_begin(const struct xb_slotmap *map, const struct xb_slotmap_plan *plan);

/* Has packets look for the entry. Returns how many probes a source there now costs. */
uint32_t xb_slotmap_mark(const struct xb_slotmap *map, const struct xb_entry *entry);

/* Whether a packet from the entry looks for its length. */
bool xb_slotmap_has(const struct xb_slotmap *map, const struct xb_entry *entry);

/* The most probes any source costs. */
uint32_t xb_slotmap_most(const struct xb_slotmap *map);

/* The word of XB_MAP_CELLS6 that the entry may mark. */
uint32_t xb_slotmap_word(const struct xb_params *params, const struct xb_entry *entry);

#endif
