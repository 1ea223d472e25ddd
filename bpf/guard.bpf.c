/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in the slot during a trial: the tried program until the deadline, the former one after it.
 * Nobody has to be alive for that. It also stands there while an interface that is detached still
 * has the program: then the tried program is the filter of all others, and those packets pass. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, XB_TRIAL_SIDES);
	__type(key, __u32);
	__type(value, __u32);
} sides SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_trial_cell);
} cell SEC(".maps");

/* Interfaces that are on trial or left, by ifindex: enum xb_only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, XB_IFACE_ROWS);
	__type(key, __u32);
	__type(value, __u32);
} only SEC(".maps");

enum way { TO_TRIED, TO_FORMER, TO_NEITHER };

static __always_inline enum way way_of(__u32 ifindex)
{
	__u32 first = 0, *apart;
	struct xb_trial_cell *trial = bpf_map_lookup_elem(&cell, &first);
	bool over = trial && bpf_ktime_get_ns() >= trial->deadline;

	if (!trial || (!over && !trial->left))
		return TO_TRIED;
	apart = bpf_map_lookup_elem(&only, &ifindex);
	if (apart && *apart == XB_ONLY_LEFT)
		return TO_NEITHER;
	return over && (trial->everywhere || apart) ? TO_FORMER : TO_TRIED;
}

SEC("xdp")
int xdp_bloom_guard(struct xdp_md *ctx)
{
	enum way way = way_of(ctx->ingress_ifindex);

	if (way == TO_TRIED) {
		bpf_tail_call_static(ctx, &sides, XB_TRIED);
		return account(ctx, XB_NO_GENERATION, 0);
	}
	if (way == TO_FORMER)
		bpf_tail_call_static(ctx, &sides, XB_FORMER);
	return account(ctx, XB_ROLLED_BACK, 0);
}

char _license[] SEC("license") = "GPL";
