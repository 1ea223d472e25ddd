/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allowlist, asked only about packets that are about to be dropped. */
#ifndef XDP_BLOOM_ALLOW_H
#define XDP_BLOOM_ALLOW_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "parse.h"
#include "xdp_bloom/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XB_GATE_ALL_CELLS);
	__type(key, __u32);
	__type(value, struct xb_gate_cell);
} allow_gate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, XB_ALLOW_MAX);
	__type(key, struct xb_allow4_key);
	__type(value, __u32);
} allow4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, XB_ALLOW_MAX);
	__type(key, struct xb_allow6_key);
	__type(value, __u32);
} allow6 SEC(".maps");

static __always_inline bool gate_open(struct xb_gate gate)
{
	__u32 index = gate.cell;
	struct xb_gate_cell *cell = bpf_map_lookup_elem(&allow_gate, &index);

	return cell && (cell->head >> gate.head |
			(cell->near >> gate.near[0] & cell->near >> gate.near[1])) &
			       1;
}

static __always_inline bool gate_open_ipv4(__u32 address)
{
	return gate_open(xb_gate_ipv4(address));
}

static __always_inline bool allowed_ipv4(__u32 address)
{
	struct xb_allow4_key key = {.length = 32, .address = bpf_htonl(address)};

	return gate_open_ipv4(address) && bpf_map_lookup_elem(&allow4, &key);
}

static __always_inline bool gate_open_short6(__u64 hi)
{
	__u32 index = XB_GATE_SHORT6 + (hi >> 54);
	struct xb_gate_cell *cell = bpf_map_lookup_elem(&allow_gate, &index);

	return cell && cell->head >> (hi >> 48 & 63) & 1;
}

static __always_inline bool gate_open_ipv6(__u64 hi)
{
	return gate_open(xb_gate_ipv6(hi)) || gate_open_short6(hi);
}

static __always_inline bool allowed_ipv6(__u64 hi, __u64 lo)
{
	struct xb_allow6_key key = {
		.length = 128,
		.address = {bpf_htonl(hi >> 32), bpf_htonl(hi), bpf_htonl(lo >> 32), bpf_htonl(lo)},
	};

	return gate_open_ipv6(hi) && bpf_map_lookup_elem(&allow6, &key);
}

static __always_inline bool allowed(const struct source *source)
{
	return source->family == SOURCE_IPV4   ? allowed_ipv4(source->ipv4)
	       : source->family == SOURCE_IPV6 ? allowed_ipv6(source->hi, source->lo)
					       : false;
}

#endif
