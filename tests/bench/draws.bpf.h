/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program draws that makes packets. It keeps its state for each CPU, so that several can
 * make packets at once and share no line. */
#ifndef XB_BENCH_DRAWS_BPF_H
#define XB_BENCH_DRAWS_BPF_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "shared.h"

struct draws {
	__u64 state; /* of the random numbers; 0: nothing was drawn yet */
	__u32 drawn; /* from a table */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct draws);
} draws_of_cpu SEC(".maps");

struct ask ask;

static __always_inline struct draws *draws_mine(void)
{
	__u32 first = 0;
	struct draws *draws = bpf_map_lookup_elem(&draws_of_cpu, &first);

	if (draws && !draws->state)
		draws->state = 0x9e3779b97f4a7c15ULL * (2 * bpf_get_smp_processor_id() + 1);
	return draws;
}

/* xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003) */
static __always_inline __u64 draws_word(struct draws *draws)
{
	__u64 x = draws->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	draws->state = x;
	return x;
}

/* Makes the frame the next question; false: it is too short. */
static __always_inline bool ask_next(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 *words = data, *label;
	struct draws *draws = draws_mine();

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
	*label = ask_label(ask.first, xb_scale((__u32)(draws_word(draws) >> 32), ask.count));
	return true;
}

#endif
