/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes visitors known, by number. sock_ops has no test run, so this stands in for bpf/known.bpf.c,
 * with the same header. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "learn.h"
#include "source.h"

__u32 number, step = 1;
__u64 lost;

static __always_inline __u32 next_number(void)
{
	__u32 now = number;

	number += step;
	return now;
}

static __always_inline int learn(struct xb_known *known, __u64 hash)
{
	lost += known_learn(known, hash, (__u32)known->period) == XB_KNOWN_NO_PLACE;
	return XDP_PASS;
}

SEC("xdp")
int meet4(struct xdp_md *ctx)
{
	struct xb_known *known = known_now();

	(void)ctx;
	return known ? learn(known,
			     xb_known_hash_ipv4(&known->key, source_scatter(next_number(), 0)))
		     : XDP_ABORTED;
}

SEC("xdp")
int meet6(struct xdp_md *ctx)
{
	struct xb_known *known = known_now();

	(void)ctx;
	return known ? learn(known, xb_known_hash_ipv6(&known->key, source_visitor6(next_number())))
		     : XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
