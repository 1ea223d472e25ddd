/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of known sources, which outlive generations: one program learns, filters look up. */
#ifndef XDP_BLOOM_BPF_KNOWN_H
#define XDP_BLOOM_BPF_KNOWN_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/known.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_known);
} known_state SEC(".maps");

struct known_set {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct xb_known_line));
};

/* So that a set comes or goes without another program: 10 ns, and only those pay them who are
 * looked up. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, XB_KNOWN_SETS);
	__type(key, __u32);
	__array(values, struct known_set);
} known_sets SEC(".maps");

static __always_inline struct xb_known *known_now(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&known_state, &first);
}

static __always_inline struct xb_known_line *known_line(struct xb_known *known, __u32 set,
							const struct xb_probes *probes)
{
	__u32 lines, index;
	void *map;

	if (set >= XB_KNOWN_SETS)
		return NULL;
	lines = *(volatile __u32 *)&known->lines[set];
	if (!lines)
		return NULL;
	map = bpf_map_lookup_elem(&known_sets, &set);
	if (!map)
		return NULL;
	index = xb_scale(probes->place, lines);
	return bpf_map_lookup_elem(map, &index);
}

static __always_inline bool known_contains(struct xb_known *known, __u64 hash)
{
	struct xb_probes probes = xb_probes_of(&known->key, hash);
	__u32 now = (__u32) * (volatile __u64 *)&known->period;

	for (__u32 set = 0; set < XB_KNOWN_SETS; set++) {
		struct xb_known_line *line = known_line(known, set, &probes);

		if (line && xb_known_line_has(line, &probes, now))
			return true;
	}
	return false;
}

/* Whether the source has connected of late, or this machine has connected to it. address: of IPv4,
 * or the first half of one of IPv6, host byte order. */
static __always_inline bool known_has(__u64 address, __u32 ipv6)
{
	struct xb_known *known = known_now();

	if (!known)
		return false;
	return known_contains(known, ipv6 ? xb_known_hash_ipv6(&known->key, address)
					  : xb_known_hash_ipv4(&known->key, (__u32)address));
}

#endif
