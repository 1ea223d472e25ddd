/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which maps a generation of given parameters has, and how large they are. */
#ifndef XB_FILTER_MAPS_H
#define XB_FILTER_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

/* The maps of a generation; one that a generation has no use for does not exist. */
enum xb_map {
	XB_MAP_HOST4,
	XB_MAP_NET6,
	XB_MAP_SLOTS6,
	XB_MAP_CELLS6,
	XB_MAP_LENGTHS6,
	XB_MAP_PREFIX4,
	XB_MAP_PREFIX6,
	XB_MAP_CONFIRM4,
	XB_MAP_CONFIRM6,
	XB_MAP_GATE,
	XB_MAP_ALLOW4,
	XB_MAP_ALLOW6,
	XB_MAP_POLICY,
	XB_MAP_NAMES,
	XB_MAP_CONFIRM_NAMES,
	XB_MAP_DEPTHS,
	XB_MAP_ALLOW_NAMES,
	XB_MAP_SCRATCH,
	XB_MAP_SCOPED,
	XB_MAP_CONFIRM_SCOPED,
	XB_MAP_SCOPE_PORTS,
	XB_MAP_SCOPE_LENGTHS4,
	XB_MAP_SCOPE_LENGTHS6,
	XB_MAP_LIMIT_PORTS,
	XB_MAP_METER,
	XB_MAP_REPORTED,
	XB_MAP_SUFFIXES,
	XB_MAPS,
};

/* The name of the map in the program and of its pin. */
const char *xb_map_name(enum xb_map map);

/* How many entries the map has; 0: a generation of these parameters does not have it. */
uint32_t xb_map_entries(enum xb_map map, const struct xb_params *params);

/* Bytes of an array; 0 for tries and other maps that take memory as they grow. */
uint64_t xb_map_bytes(enum xb_map map, const struct xb_params *params);

/* Bytes of those that say which IPv6 prefix lengths can match. */
uint64_t xb_maps_lengths_bytes(const struct xb_params *params);

/* Bytes of all arrays. */
uint64_t xb_maps_bytes(const struct xb_params *params);

/* Whether parameters that were read, for example from a pin, agree with themselves. Code that
 * relies on them then stays within the maps for which they ask. */
bool xb_params_are_sound(const struct xb_params *params);

/* Whether the program hashes names that packets carry, and has a key for that. */
bool xb_params_hash_names(const struct xb_params *params);

/* Whether the map behind the descriptor is the one that the parameters ask for. */
bool xb_map_is(int fd, enum xb_map map, const struct xb_params *params);

#endif
