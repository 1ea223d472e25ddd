/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 prefixes up to /24: one bit for each /24, exact. */
#ifndef XDP_BLOOM_PREFIX4_H
#define XDP_BLOOM_PREFIX4_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XB_PREFIX4_WORDS);
	__type(key, __u32);
	__type(value, __u64);
} prefix4 SEC(".maps");

/* address: host byte order. */
static __always_inline bool prefix4_listed(__u32 address)
{
	__u32 index = address >> 14;
	__u64 *word = bpf_map_lookup_elem(&prefix4, &index);

	return word && (*word >> ((address >> 8) & 63)) & 1;
}

#endif
