/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program that is attached: hands every packet to the active generation through the slot all
 * interfaces share. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "account.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} slot SEC(".maps");

SEC("xdp")
int xdp_bloom_entry(struct xdp_md *ctx)
{
	bpf_tail_call_static(ctx, &slot, 0);
	return account(ctx, XB_NO_GENERATION, 0);
}

char _license[] SEC("license") = "GPL";
