/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 prefixes up to /24: one bit for each /24, exact. Behind these words stands one bit for
 * each word that is not 0. Few are, so most look-ups read only these bits, which stay in a near
 * cache. */
#ifndef XDP_BLOOM_PREFIX4_H
#define XDP_BLOOM_PREFIX4_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XB_PREFIX4_WORDS + XB_PREFIX4_TOP_WORDS);
	__type(key, __u32);
	__type(value, __u64);
} prefix4 SEC(".maps");

static __always_inline __u64 prefix4_bit(__u32 index, __u32 bit)
{
	__u64 *word = bpf_map_lookup_elem(&prefix4, &index);

	return word ? (*word >> bit) & 1 : 0;
}

/* address: host byte order. */
static __always_inline bool prefix4_listed(__u32 address)
{
	return prefix4_bit(XB_PREFIX4_WORDS + (address >> 20), (address >> 14) & 63) &&
	       prefix4_bit(address >> 14, (address >> 8) & 63);
}

#endif
