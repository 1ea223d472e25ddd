/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building a generation from what is listed, on all cores. */
#ifndef XB_CORE_BUILD_H
#define XB_CORE_BUILD_H

#include "generation.h"
#include "keys.h"

struct xb_build {
	const struct xb_paths *paths;
	const struct xb_link *link;
	uint64_t store;	   /* identity */
	uint64_t sequence; /* of the last change the keys have */
	uint64_t capacity; /* wanted at least, in keys; 0: by the keys */
	double rate;	   /* of the Bloom stage, per packet */
	bool confirm;	   /* with the exact stage behind it */
	uint32_t policy;   /* enum xb_policy */
	struct xb_name_ports ports;
	const struct xb_key *key; /* NULL: random */
	const struct xb_params
		*size; /* of an earlier generation, to compare with; NULL: by the keys */
};

/* What decides the size of a generation. */
struct xb_demand {
	uint64_t host4_keys, net6_keys, names_keys, allow_names;
	bool prefix4;
	uint32_t length_probes; /* the most probes an IPv6 source costs */
	uint32_t length_cells;
	double rate;
	bool confirm;
	uint32_t slack;	   /* eighths by which the exact look-up is larger than it need be */
	uint64_t capacity; /* keys in all to make room for; 0: by what is listed */
};

/* Sets all that is about size; leaves generation, store, key, ports and allow_only alone. */
int xb_build_size(const struct xb_demand *demand, struct xb_params *params);

/* Says what is missing when the machine cannot hold such a generation. */
int xb_build_check_room(const struct xb_paths *paths, const struct xb_params *params);

/* Maps, counters and program, complete and in force nowhere. The caller publishes or discards it.
 */
int xb_build(const struct xb_build *build, const struct xb_keys *keys,
	     struct xb_generation **generation);

#endif
