/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the listed names that packets hit: see struct xb_hits. */
#ifndef XDP_BLOOM_HITS_H
#define XDP_BLOOM_HITS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "link.h"
#include "name.h"

/* The listed name is the last part of the one in the scratch. */
static __always_inline void hits_write_name(struct xb_hits *slot, struct name *name)
{
	__u32 start = name->start[(name->labels - name->hit.depth) & 127] & 255;
	__u32 bytes = (name->bytes - start) & 255;
	__u64 *from = (__u64 *)name_at(name, start), *to = (__u64 *)slot->name;

	for (__u32 i = 0; i < XB_NAME_BYTES / 8 && 8 * i < bytes; i++)
		to[i] = from[i];
	slot->exact = name->hit.exact;
	slot->bytes = bytes;
}

/* A name that takes the slot from another is written down at its second packet: many names of few
 * packets pass through a slot. */
static __always_inline void hits_count(struct name *name)
{
	__u32 index = (__u32)(name->hit.fingerprint >> 32) % XB_HITS_SLOTS;
	struct xb_hits *slot = bpf_map_lookup_elem(&hits, &index);
	bool first;

	if (!slot)
		return;
	first = !slot->fingerprint;
	if (slot->fingerprint != name->hit.fingerprint) {
		if (slot->votes) {
			slot->votes--;
			return;
		}
		slot->bytes = 0;
		slot->packets = 0;
		slot->fingerprint = name->hit.fingerprint;
	}
	slot->votes++;
	slot->packets++;
	if (!slot->bytes && (first || slot->packets > 1))
		hits_write_name(slot, name);
}

#endif
