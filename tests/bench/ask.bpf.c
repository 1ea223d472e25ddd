/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry that gives every run a fresh question, and parsing alone to compare with. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "parse.h"
#include "xdp_bloom/hash.h"
#include "ask.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} asked SEC(".maps");

struct ask ask;
__u64 state = 0x9e3779b97f4a7c15ULL;

SEC("xdp")
int ask_anew(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 *words = data, x = state;

	if (data + ASK_HEAD > end)
		return XDP_ABORTED;
#pragma unroll
	for (int i = 0; i < ASK_HEAD / 8 - 1; i++)
		words[i] = ask.head[i];
	/* xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003) */
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	state = x;
	if (ask.label) {
		__u64 *label = data + (ask.label & 511);

		if ((void *)(label + 1) > end)
			return XDP_ABORTED;
		*label = ask_label(ask.first, xb_scale((__u32)(x >> 32), ask.count));
	}
	bpf_tail_call_static(ctx, &asked, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int parse_alone(struct xdp_md *ctx)
{
	struct source source = parse_source(ctx);

	asm volatile("" ::"r"(source.ipv4));
	return account(ctx, source.family == SOURCE_NONE ? source.reason : XB_CLEAN,
		       source.claimed);
}

char _license[] SEC("license") = "GPL";
