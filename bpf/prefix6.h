/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv6 prefixes up to /32: a directory of /16s, and a page with one bit for each /32 for those that
 * have any. Exact, in two look-ups however many lengths are listed. */
#ifndef XDP_BLOOM_PREFIX6_H
#define XDP_BLOOM_PREFIX6_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} prefix6 SEC(".maps");

/* hi: of the address, host byte order. */
static __always_inline bool prefix6_listed(__u64 hi)
{
	__u32 block = hi >> 48, index = block / 2, page;
	__u64 *word = bpf_map_lookup_elem(&prefix6, &index);

	if (!word)
		return false;
	page = *word >> (block & 1) * 32;
	if (page <= XB_PREFIX6_WHOLE)
		return page;
	index = xb_prefix6_word(page, hi >> 38 & (XB_PREFIX6_PAGE_WORDS - 1));
	word = bpf_map_lookup_elem(&prefix6, &index);
	return word && *word >> (hi >> 32 & 63) & 1;
}

#endif
