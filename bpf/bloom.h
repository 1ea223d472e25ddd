/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocked Bloom filter: one cache line decides. No branch depends on the probes, because
 * a mispredicted one would cost more. */
#ifndef XDP_BLOOM_BLOOM_H
#define XDP_BLOOM_BLOOM_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "bits.h"
#include "params.h"

struct bloom_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_block);
};

/* probes is a constant wherever this is inlined. */
static __always_inline bool bloom_probe(void *map, __u32 blocks, __u32 probes,
					const struct xb_key *key, __u64 hash)
{
	struct xb_probes decided = xb_probes_of(key, hash);
	__u32 index = xb_scale(decided.place, blocks);
	struct xb_block *block = bpf_map_lookup_elem(map, &index);
	__u64 all = 1, bits = decided.low;

	if (!block)
		return false;
#pragma unroll
	for (__u32 i = 0; i < probes; i++, bits >>= XB_PROBE_BITS) {
		if (i == XB_BLOCK_WORDS)
			bits = xb_probes_high(&decided);
		all &= shifted(block->word[i % XB_BLOCK_WORDS], bits);
	}
	return all;
}

/* One body for each number of probes; the verifier removes the one that the generation does not
 * use.
 */
static __always_inline bool bloom_contains(void *map, const volatile struct xb_geometry *geometry,
					   const struct xb_key *key, __u64 hash)
{
	if (geometry->probes == XB_PROBES_MANY)
		return bloom_probe(map, geometry->blocks, XB_PROBES_MANY, key, hash);
	return bloom_probe(map, geometry->blocks, XB_PROBES_FEW, key, hash);
}

#endif
