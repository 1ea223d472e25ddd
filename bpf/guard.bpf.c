/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in the slot during a trial: the tried program until the deadline, the former one after it.
 * Nobody has to be alive for that. */
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

/* Interfaces that are on trial, by ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, XB_IFACE_ROWS);
	__type(key, __u32);
	__type(value, __u32);
} only SEC(".maps");

static __always_inline bool is_over(__u32 ifindex)
{
	__u32 first = 0;
	struct xb_trial_cell *trial = bpf_map_lookup_elem(&cell, &first);

	if (!trial || bpf_ktime_get_ns() < trial->deadline)
		return false;
	return trial->everywhere || bpf_map_lookup_elem(&only, &ifindex);
}

SEC("xdp")
int xdp_bloom_guard(struct xdp_md *ctx)
{
	if (is_over(ctx->ingress_ifindex)) {
		bpf_tail_call_static(ctx, &sides, XB_FORMER);
		return account(ctx, XB_ROLLED_BACK, 0);
	}
	bpf_tail_call_static(ctx, &sides, XB_TRIED);
	return account(ctx, XB_NO_GENERATION, 0);
}

char _license[] SEC("license") = "GPL";
