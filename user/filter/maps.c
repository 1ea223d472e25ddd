/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and sizes of the maps of a generation. */
#include "filter/maps.h"

#include <bpf/bpf.h>
#include <stdint.h>

#include "bloom/exact.h"

#define ARRAY(map_name, map_value)                                                                 \
	{                                                                                          \
		.name = map_name, .type = BPF_MAP_TYPE_ARRAY, .key_bytes = sizeof(uint32_t),       \
		.value_bytes = sizeof(map_value)                                                   \
	}

/* As bpf/ declares them; a size of 0 is known there only. */
static const struct shape {
	const char *name;
	uint32_t type, key_bytes, value_bytes;
} shapes[XB_MAPS] = {
	[XB_MAP_HOST4] = ARRAY("host4", struct xb_block),
	[XB_MAP_NET6] = ARRAY("net6", struct xb_block),
	[XB_MAP_SLOTS6] = ARRAY("slots6", struct xb_slots6),
	[XB_MAP_CELLS6] = ARRAY("cells6", uint64_t),
	[XB_MAP_LENGTHS6] = ARRAY("lengths6", struct xb_lengths),
	[XB_MAP_PREFIX4] = ARRAY("prefix4", uint64_t),
	[XB_MAP_PREFIX6] = ARRAY("prefix6", uint64_t),
	[XB_MAP_CONFIRM4] = ARRAY("confirm4", struct xb_bucket),
	[XB_MAP_CONFIRM6] = ARRAY("confirm6", struct xb_bucket),
	[XB_MAP_GATE] = ARRAY("allow_gate", struct xb_gate_cell),
	[XB_MAP_ALLOW4] = {"allow4", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct xb_allow4_key),
			   sizeof(uint32_t)},
	[XB_MAP_ALLOW6] = {"allow6", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct xb_allow6_key),
			   sizeof(uint32_t)},
	[XB_MAP_POLICY] = ARRAY("policy", uint32_t),
	[XB_MAP_NAMES] = ARRAY("names", struct xb_block),
	[XB_MAP_CONFIRM_NAMES] = ARRAY("confirm_names", struct xb_bucket),
	[XB_MAP_DEPTHS] = ARRAY("name_depths", struct xb_depths),
	[XB_MAP_ALLOW_NAMES] = {"allow_names", BPF_MAP_TYPE_HASH, sizeof(uint64_t),
				sizeof(uint32_t)},
	[XB_MAP_SCRATCH] = {"name_scratch", BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), 0},
	[XB_MAP_SCOPED] = ARRAY("scoped", struct xb_block),
	[XB_MAP_CONFIRM_SCOPED] = ARRAY("confirm_scoped", struct xb_bucket),
	[XB_MAP_SCOPE_PORTS] = ARRAY("scope_ports", uint64_t),
	[XB_MAP_SCOPE_LENGTHS4] = ARRAY("scope_lengths4", uint64_t),
	[XB_MAP_SCOPE_LENGTHS6] = ARRAY("scope_lengths6", struct xb_lengths),
	[XB_MAP_LIMIT_PORTS] = ARRAY("limit_ports", uint64_t),
	[XB_MAP_METER] = ARRAY("meter", struct xb_meter_line),
	[XB_MAP_REPORTED] = ARRAY("reported", uint64_t),
	[XB_MAP_SUFFIXES] = ARRAY("suffixes", struct xb_bucket),
};

const char *xb_map_name(enum xb_map map)
{
	return shapes[map].name;
}

static uint32_t bucket_entries(const struct xb_buckets *buckets)
{
	return (uint32_t)(xb_exact_bytes(buckets) / sizeof(struct xb_bucket));
}

bool xb_params_hash_names(const struct xb_params *params)
{
	return params->names.blocks || params->suffixes.parts;
}

uint32_t xb_map_entries(enum xb_map map, const struct xb_params *params)
{
	switch (map) {
	case XB_MAP_HOST4:
		return params->host4.blocks;
	case XB_MAP_NET6:
		return params->net6.blocks;
	case XB_MAP_SLOTS6:
		return params->net6.blocks ? 1 : 0;
	case XB_MAP_CELLS6:
		return params->net6.blocks ? params->cell_words : 0;
	case XB_MAP_LENGTHS6:
		return params->net6.blocks ? params->length_cells + 1 : 0;
	case XB_MAP_PREFIX4:
		return params->prefix4 ? XB_PREFIX4_WORDS + XB_PREFIX4_TOP_WORDS : 0;
	case XB_MAP_PREFIX6:
		return params->prefix6_pages ? XB_PREFIX6_DIRECTORY_WORDS +
						       params->prefix6_pages * XB_PREFIX6_PAGE_WORDS
					     : 0;
	case XB_MAP_CONFIRM4:
		return bucket_entries(&params->confirm4);
	case XB_MAP_CONFIRM6:
		return bucket_entries(&params->confirm6);
	case XB_MAP_GATE:
		return XB_GATE_ALL_CELLS;
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
		return params->names.blocks ? 1 : 0;
	case XB_MAP_SCRATCH:
		return xb_params_hash_names(params) || params->limits.truncates ? 1 : 0;
	case XB_MAP_ALLOW_NAMES:
		return params->allow_names;
	case XB_MAP_SCOPED:
		return params->scoped.blocks;
	case XB_MAP_CONFIRM_SCOPED:
		return bucket_entries(&params->confirm_scoped);
	case XB_MAP_SCOPE_PORTS:
		return params->scoped.blocks ? XB_SCOPE_PORT_WORDS : 0;
	case XB_MAP_SCOPE_LENGTHS4:
		return params->scoped.blocks ? XB_SCOPE_LENGTHS4 : 0;
	case XB_MAP_SCOPE_LENGTHS6:
		return params->scoped.blocks ? params->scope_cells + 1 : 0;
	case XB_MAP_LIMIT_PORTS:
		return params->limits.lines ? XB_SCOPE_PORT_WORDS : 0;
	case XB_MAP_METER:
		return params->limits.lines;
	case XB_MAP_REPORTED:
		return params->limits.lists ? XB_REPORTED_SLOTS : 0;
	case XB_MAP_SUFFIXES:
		return bucket_entries(&params->suffixes);
	case XB_MAPS:
		break;
	}
	return 0;
}

uint64_t xb_map_bytes(enum xb_map map, const struct xb_params *params)
{
	return shapes[map].type == BPF_MAP_TYPE_ARRAY
		       ? (uint64_t)xb_map_entries(map, params) * shapes[map].value_bytes
		       : 0;
}

uint64_t xb_maps_lengths_bytes(const struct xb_params *params)
{
	return xb_map_bytes(XB_MAP_SLOTS6, params) + xb_map_bytes(XB_MAP_CELLS6, params) +
	       xb_map_bytes(XB_MAP_LENGTHS6, params);
}

uint64_t xb_maps_bytes(const struct xb_params *params)
{
	uint64_t bytes = 0;

	for (enum xb_map map = 0; map < XB_MAPS; map++)
		bytes += xb_map_bytes(map, params);
	return bytes;
}

bool xb_map_is(int fd, enum xb_map map, const struct xb_params *params)
{
	const struct shape *shape = &shapes[map];
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == shape->type &&
	       info.key_size == shape->key_bytes &&
	       (!shape->value_bytes || info.value_size == shape->value_bytes) &&
	       info.max_entries == xb_map_entries(map, params);
}

/* A stage's blocks and buckets; confirmed: it has to have buckets. */
static bool is_stage(const struct xb_geometry *bloom, const struct xb_buckets *buckets,
		     enum xb_slots slots, bool confirmed)
{
	if (!bloom->blocks)
		return !buckets->parts;
	return (bloom->probes == XB_PROBES_FEW || bloom->probes == XB_PROBES_MANY) &&
	       (buckets->parts != 0) == confirmed && xb_exact_is_sound(buckets, slots);
}

static bool is_odd(const struct xb_quotient_key *key)
{
	return key->factor[0] & key->factor[1] & key->factor[2] & key->step & 1;
}

static bool are_levels(const struct xb_levels6 *levels)
{
	for (uint32_t i = 0; i < XB_LEVELS6; i++) {
		uint32_t length = XB_LEVELS6_FIRST + i, level = levels->of[i];

		if (level < length || level > length + XB_LEVELS6_BITS || level > 128)
			return false;
	}
	return true;
}

/* Half of what the cells have: leads, and what is added to them, never wrap. */
#define TICKS_MOST (1U << 31)

static bool is_meter(const struct xb_meter *meter, uint32_t lines)
{
	return meter->shift < 64 && meter->unit < XB_LIMIT_UNITS && meter->cost &&
	       (uint64_t)meter->depth + meter->slack < TICKS_MOST && meter->bits4 > 0 &&
	       meter->bits4 <= 32 && meter->bits6 > 0 && meter->bits6 <= 64 && meter->lines &&
	       meter->first < lines && meter->lines <= lines - meter->first;
}

/* No limit has the number 0, whose bit would be of none. */
static bool are_meters(const struct xb_limits *limits)
{
	if (limits->of.identity[0])
		return false;
	for (uint32_t i = 1; i < XB_LIMITS; i++)
		if (limits->of.identity[i] && !is_meter(&limits->meter[i], limits->lines))
			return false;
	return true;
}

bool xb_params_are_sound(const struct xb_params *params)
{
	return is_odd(&params->key4) &&
	       is_stage(&params->host4, &params->confirm4, XB_SLOTS_ADDRESS, params->confirm) &&
	       is_stage(&params->net6, &params->confirm6, XB_SLOTS_PREFIX, params->confirm) &&
	       is_stage(&params->names, &params->confirm_names, XB_SLOTS_NAME, true) &&
	       is_stage(&params->scoped, &params->confirm_scoped, XB_SLOTS_HASH, true) &&
	       params->prefix6_pages <= XB_PREFIX6_BLOCKS && params->scope_cells < UINT32_MAX &&
	       params->length_cells < UINT32_MAX && (!params->net6.blocks || params->cell_words) &&
	       are_levels(&params->levels6) && are_meters(&params->limits) &&
	       xb_exact_is_sound(&params->suffixes, XB_SLOTS_NAME) &&
	       (!params->names.blocks || params->allow_names);
}
