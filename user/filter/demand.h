/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large a generation is for what is listed, and whether this machine has room for it. */
#ifndef XB_FILTER_DEMAND_H
#define XB_FILTER_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/paths.h"
#include "xdp_bloom/layout.h"

/* What decides the size of a generation. */
struct xb_demand {
	uint64_t host4_keys, net6_keys, names_keys, scoped_keys, allow_names;
	bool prefix4;
	uint32_t prefix6_pages;
	uint32_t length_probes; /* the most probes an IPv6 source costs */
	uint32_t length_cells, cell_words, scope_cells;
	double rate;
	bool confirm;
	uint32_t slack;	   /* eighths by which the exact look-up is larger than it need be */
	uint64_t suffixes; /* in the table of public suffixes */
	uint64_t capacity; /* keys in all to make room for; 0: by what is listed */
};

/* Sets all parameters that concern size; leaves generation, store, key, ports and allow_only
 * alone. -E2BIG: no filter can be so large. */
int xb_demand_size(const struct xb_demand *demand, struct xb_params *params);

/* Sets the table of public suffixes alone, which no other size depends on. */
void xb_demand_size_suffixes(const struct xb_demand *demand, struct xb_params *params);

/* -ENOSPC with a message that says what is missing: memory, or room in the run directory. */
int xb_demand_check(const struct xb_paths *paths, const struct xb_params *params);

/* Whether there is certainly room for a generation with this many keys, of whatever kind and at
 * whatever rate; meters of limits come on top. Takes no time; false means that nothing is known. */
bool xb_demand_is_met(const struct xb_paths *paths, uint64_t keys);

/* What xb_demand_is_met() counts for a key, and for a generation without any. */
#define XB_DEMAND_KEY_BYTES 256
#define XB_DEMAND_BYTES	    (48ULL << 20)

#endif
