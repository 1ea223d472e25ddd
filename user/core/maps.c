/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and sizes of the maps of a generation. */
#include "maps.h"

#include "confirm.h"

static const char *const map_names[XB_MAPS] = {
	[XB_MAP_HOST4] = "host4",	   [XB_MAP_NET6] = "net6",
	[XB_MAP_LENGTHS6] = "lengths6",	   [XB_MAP_PREFIX4] = "prefix4",
	[XB_MAP_CONFIRM4] = "confirm4",	   [XB_MAP_CONFIRM6] = "confirm6",
	[XB_MAP_GATE] = "allow_gate",	   [XB_MAP_ALLOW4] = "allow4",
	[XB_MAP_ALLOW6] = "allow6",	   [XB_MAP_POLICY] = "policy",
	[XB_MAP_NAMES] = "names",	   [XB_MAP_CONFIRM_NAMES] = "confirm_names",
	[XB_MAP_DEPTHS] = "name_depths",   [XB_MAP_ALLOW_NAMES] = "allow_names",
	[XB_MAP_SCRATCH] = "name_scratch",
};

const char *xb_map_name(enum xb_map map)
{
	return map_names[map];
}

static uint32_t bucket_entries(const struct xb_buckets *buckets)
{
	return (uint32_t)(xb_confirm_bytes(buckets) / sizeof(struct xb_bucket));
}

uint32_t xb_map_entries(enum xb_map map, const struct xb_params *params)
{
	switch (map) {
	case XB_MAP_HOST4:
		return params->host4.blocks;
	case XB_MAP_NET6:
		return params->net6.blocks;
	case XB_MAP_LENGTHS6:
		return params->net6.blocks ? params->length_cells + 1 : 0;
	case XB_MAP_PREFIX4:
		return params->prefix4 ? XB_PREFIX4_WORDS + XB_PREFIX4_TOP_WORDS : 0;
	case XB_MAP_CONFIRM4:
		return bucket_entries(&params->confirm4);
	case XB_MAP_CONFIRM6:
		return bucket_entries(&params->confirm6);
	case XB_MAP_GATE:
		return XB_GATE_ALL_WORDS;
	case XB_MAP_ALLOW4:
	case XB_MAP_ALLOW6:
		return XB_ALLOW_MAX;
	case XB_MAP_POLICY:
		return 1;
	case XB_MAP_NAMES:
		return params->names.blocks;
	case XB_MAP_CONFIRM_NAMES:
		return bucket_entries(&params->confirm_names);
	case XB_MAP_DEPTHS:
	case XB_MAP_SCRATCH:
		return params->names.blocks ? 1 : 0;
	case XB_MAP_ALLOW_NAMES:
		return params->allow_names;
	case XB_MAPS:
		break;
	}
	return 0;
}

uint64_t xb_map_bytes(enum xb_map map, const struct xb_params *params)
{
	static const uint32_t value_bytes[XB_MAPS] = {
		[XB_MAP_HOST4] = sizeof(struct xb_block),
		[XB_MAP_NET6] = sizeof(struct xb_block),
		[XB_MAP_LENGTHS6] = sizeof(struct xb_lengths),
		[XB_MAP_PREFIX4] = sizeof(uint64_t),
		[XB_MAP_CONFIRM4] = sizeof(struct xb_bucket),
		[XB_MAP_CONFIRM6] = sizeof(struct xb_bucket),
		[XB_MAP_GATE] = sizeof(uint64_t),
		[XB_MAP_POLICY] = sizeof(uint32_t),
		[XB_MAP_NAMES] = sizeof(struct xb_block),
		[XB_MAP_CONFIRM_NAMES] = sizeof(struct xb_bucket),
		[XB_MAP_DEPTHS] = sizeof(struct xb_depths),
	};

	return (uint64_t)xb_map_entries(map, params) * value_bytes[map];
}

uint64_t xb_maps_bytes(const struct xb_params *params)
{
	uint64_t bytes = 0;

	for (enum xb_map map = 0; map < XB_MAPS; map++)
		bytes += xb_map_bytes(map, params);
	return bytes;
}
