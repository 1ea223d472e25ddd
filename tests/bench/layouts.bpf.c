/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Bloom stage in every layout: a program each, of which one is loaded at a time. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "parse.h"
#include "layouts.h"

/* Sized when loaded: by the block, or by all blocks where they are one value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct xb_block));
} bits SEC(".maps");

const volatile struct xb_key key;
const volatile __u32 blocks;

static __always_inline const __u64 *block_at(struct layout layout, __u32 index)
{
	__u32 zero = 0;
	const __u64 *value;

	if (layout.blocks == BLOCKS_MAP)
		return bpf_map_lookup_elem(&bits, &index);
	value = bpf_map_lookup_elem(&bits, &zero);
	if (!value || index >= blocks)
		return NULL;
	return value + index * layout.words;
}

static __always_inline enum xb_reason judge(struct layout layout, __u32 address)
{
	struct xb_key own = {.a = key.a, .b = key.b};
	struct xb_probes probes = layout_probes(layout, &own, address);
	const __u64 *block = block_at(layout, xb_scale(probes.place, blocks));

	if (!block || !layout_contains(layout, &probes, block))
		return XB_CLEAN;
	return XB_LISTED_IPV4_HOST;
}

static __always_inline int filter(struct xdp_md *ctx, struct layout layout)
{
	struct source source = parse_source(ctx);

	if (source.family != SOURCE_IPV4)
		return XDP_ABORTED;
	return account(ctx, judge(layout, source.ipv4), source.claimed);
}

#define PROGRAM(name, text, ...)                                                                   \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		return filter(ctx, (struct layout){__VA_ARGS__});                                  \
	}

LAYOUTS(PROGRAM)

char _license[] SEC("license") = "GPL";
