/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one way out: counts packets and bytes by reason and interface, per CPU. */
#ifndef XDP_BLOOM_ACCOUNT_H
#define XDP_BLOOM_ACCOUNT_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "anchor.h"

static __always_inline __u32 stats_row_at(__u32 index, __u32 ifindex)
{
	struct xb_iface_cell *cell;

	index %= XB_IFACE_CELLS;
	cell = bpf_map_lookup_elem(&ifaces, &index);
	return cell && cell->ifindex == ifindex ? cell->row : 0;
}

/* Nearly every interface stands in its first cell. Not static: so the verifier follows the search
 * once, and not for each state of those who call it. */
__noinline int stats_row_further(__u32 ifindex)
{
	__u32 row = 0;

	for (__u32 i = 1; !row && i < XB_IFACE_PROBES; i++)
		row = stats_row_at(xb_iface_cell_first(ifindex) + i, ifindex);
	return row;
}

static __always_inline __u32 stats_row(__u32 ifindex)
{
	__u32 row = stats_row_at(xb_iface_cell_first(ifindex), ifindex);

	return row ? row : stats_row_further(ifindex);
}

/*
 * The first buffer is the whole frame unless the IP header claims more than it holds (jumbo frames
 * in several buffers); only then is the helper called.
 */
static __always_inline __u64 frame_length(struct xdp_md *ctx, __u32 claimed)
{
	__u32 first = ctx->data_end - ctx->data;

	return claimed > first ? bpf_xdp_get_buff_len(ctx) : first;
}

/* Counts a packet of a class, or one over a limit; none is counted twice. */
static __always_inline void class_count(__u32 number, __u64 bytes)
{
	struct xb_class_count *count = bpf_map_lookup_elem(&class_counts, &number);

	if (!count)
		return;
	count->count.packets++;
	count->count.bytes += bytes;
}

/* claimed: the frame's length by its IP header, 0 if it has none. Returns the XDP verdict that
 * belongs to the reason. */
static __always_inline int account(struct xdp_md *ctx, enum xb_reason reason, __u32 claimed)
{
	__u32 row = stats_row(ctx->ingress_ifindex);
	struct xb_counts *counts = bpf_map_lookup_elem(&stats, &row);

	if (counts && reason < XB_REASON_SLOTS) {
		counts->reason[reason].packets++;
		counts->reason[reason].bytes += frame_length(ctx, claimed);
	}
	return xb_reason_drops(reason) ? XDP_DROP : xb_reason_answers(reason) ? XDP_TX : XDP_PASS;
}

#endif
