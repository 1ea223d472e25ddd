/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the listed names that packets hit: see struct xb_hits. */
#ifndef XDP_BLOOM_TOPNAMES_H
#define XDP_BLOOM_TOPNAMES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "anchor.h"
#include "name.h"

/* The listed name is the last part of the one in the scratch. */
static __always_inline void topnames_write_name(struct name *name, struct xb_hits *slot,
						__u32 index)
{
	struct xb_hits_name *out = bpf_map_lookup_elem(&hits_names, &index);
	__u32 start = name->start[(name->labels - name->hit.depth) & 127] & 255;
	__u32 bytes = (name->bytes - start) & 255;
	__u64 *from = (__u64 *)name_at(name, start), *to = (__u64 *)out;

	for (__u32 i = 0; to && i < XB_NAME_BYTES / 8 && 8 * i < bytes; i++)
		to[i] = from[i];
	slot->exact = name->hit.exact;
	slot->bytes = bytes;
}

/*
 * A name that takes the slot from another is written down at its second packet: under a flood for
 * many names, slots change hands all the time. The vote is counted without a branch, because its
 * outcome cannot be predicted.
 */
static __always_inline void topnames_count(struct name *name)
{
	__u32 index = (__u32)(name->hit.fingerprint >> 32) % XB_HITS_SLOTS;
	struct xb_hits *slot = bpf_map_lookup_elem(&hits, &index);
	__u64 differ, other, against, takes, first;

	if (!slot)
		return;
	first = !slot->fingerprint;
	differ = slot->fingerprint ^ name->hit.fingerprint;
	other = (differ | -differ) >> 63;
	against = other & ((slot->votes | -slot->votes) >> 63);
	takes = other ^ against;
	slot->fingerprint ^= differ & -takes;
	slot->packets = (slot->packets & (takes - 1)) + (against ^ 1);
	slot->votes += 1 - 2 * against;
	slot->bytes &= takes - 1;
	if (!slot->bytes && (first || slot->votes > 1))
		topnames_write_name(name, slot, index);
}

#endif
