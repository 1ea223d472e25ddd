/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gives every run a fresh question, and what the filter is compared with. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "draws.bpf.h"
#include "parse.h"
#include "xdp_bloom/hash.h"
#include "ask.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32); /* response code */
	__type(value, __u64);
} answers SEC(".maps");

struct ask ask;

/* Makes the frame the next question; false: it is too short. */
static __always_inline bool ask_next(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 *words = data, *label;
	struct draws *draws = draws_mine();
	__u32 number;

	if (!draws || data + ASK_HEAD > end)
		return false;
#pragma unroll
	for (int i = 0; i < ASK_HEAD / 8 - 1; i++)
		words[i] = ask.head[i];
	if (!ask.label)
		return true;
	label = data + (ask.label & 511);
	if ((void *)(label + 1) > end)
		return false;
	number = xb_scale((__u32)(draws_word(draws) >> 32), ask.count);
	*label = ask_label(ask.first, number);
	return true;
}

SEC("xdp")
int ask_anew(struct xdp_md *ctx)
{
	if (ask_next(ctx))
		bpf_tail_call_static(ctx, &asked, 0);
	return XDP_ABORTED;
}

/* The generator alone. */
SEC("xdp")
int ask_nobody(struct xdp_md *ctx)
{
	return ask_next(ctx) ? XDP_DROP : XDP_ABORTED;
}

SEC("xdp")
int ask_over(struct xdp_md *ctx)
{
	return ask_next(ctx) ? bpf_redirect(ask.ifindex, 0) : XDP_ABORTED;
}

/* At the other end, instead of a filter: the limits of what one can do. */
SEC("xdp")
int drop_all(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

SEC("xdp")
int pass_all(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

SEC("xdp")
int turn_all(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u8 *flags = data + ASK_FLAGS;

	if ((void *)(flags + 2) > end)
		return XDP_ABORTED;
	flags[0] |= 0x80;
	flags[1] = 3;
	return XDP_TX;
}

/* Where answers come back to: counted by their code, and gone. */
SEC("xdp")
int collect(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__be16 *protocol = data + 12;
	__u8 *flags = data + ASK_FLAGS;
	__u32 code;
	__u64 *count;

	if ((void *)(flags + 2) > end || *protocol != bpf_htons(ETH_P_IP) || !(flags[0] & 0x80))
		return XDP_PASS;
	code = flags[1] & 15;
	count = bpf_map_lookup_elem(&answers, &code);
	if (count)
		++*count;
	return XDP_DROP;
}

SEC("xdp")
int parse_alone(struct xdp_md *ctx)
{
	struct source source = parse_source(ctx);

	if (source.family != SOURCE_IPV4)
		return XDP_ABORTED;
	asm volatile("" ::"r"(source.ipv4));
	return account(ctx, XB_CLEAN, source.claimed);
}

char _license[] SEC("license") = "GPL";
