/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sends frames with sources from a table. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "table.bpf.h"

struct flood flood;
__u32 drawn; /* how many sources */

static __always_inline void put_source4(void *data, __u32 address)
{
	__be32 source = bpf_htonl(address);
	__u32 sum = flood.sum + (source & 0xffff) + (source >> 16);

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	*(__be32 *)(data + FLOOD_SOURCE4) = source;
	*(__u16 *)(data + FLOOD_SUM4) = (__u16)~sum;
}

static __always_inline void put_source6(void *data, const __u32 *words)
{
	__u32 *source = data + FLOOD_SOURCE6;

#pragma unroll
	for (int i = 0; i < TABLE_WORDS6; i++)
		source[i] = words[i];
}

/* Makes the frame the next one; false: it cannot be. */
static __always_inline bool flood_next(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 number = drawn++;
	struct table_line *line;
	__u64 *words = data;

	line = table_line(0, number, flood.family == 6 ? TABLE_LINE6 : TABLE_LINE);
	if (!line || data + FLOOD_HEAD > end)
		return false;
#pragma unroll
	for (int i = 0; i < FLOOD_HEAD / 8; i++)
		words[i] = flood.head[i];
	if (flood.family == 6)
		put_source6(data, &line->address[number % TABLE_LINE6 * TABLE_WORDS6]);
	else
		put_source4(data, line->address[number % TABLE_LINE]);
	return true;
}

/* The generator alone. */
SEC("xdp")
int flood_nobody(struct xdp_md *ctx)
{
	return flood_next(ctx) ? XDP_DROP : XDP_ABORTED;
}

SEC("xdp")
int flood_over(struct xdp_md *ctx)
{
	return flood_next(ctx) ? bpf_redirect(flood.ifindex, 0) : XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
