/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visitors by number: makes them known, or sends a frame from each to the next program. sock_ops
 * has no test run, so this stands in for bpf/known.bpf.c, with the same header. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "learn.h"
#include "source.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next_program SEC(".maps");

__u32 number, step = 1;
__u64 lost;

static __always_inline __u32 next_number(void)
{
	__u32 now = number;

	number += step;
	return now;
}

static __always_inline __u64 net_of(__u32 visitor)
{
	return 0x2001000000000000ULL | (__u64)source_scatter(visitor, 0) << 16;
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
	return known ? learn(known, xb_known_hash_ipv6(&known->key, net_of(next_number())))
		     : XDP_ABORTED;
}

SEC("xdp")
int come4(struct xdp_md *ctx)
{
	struct iphdr *ip = (void *)(long)ctx->data + sizeof(struct ethhdr);

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	ip->saddr = bpf_htonl(source_scatter(next_number(), 0));
	bpf_tail_call_static(ctx, &next_program, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int come6(struct xdp_md *ctx)
{
	struct ipv6hdr *ip = (void *)(long)ctx->data + sizeof(struct ethhdr);
	__u32 visitor = next_number();
	__u64 net = net_of(visitor);
	__u32 *word;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	word = ip->saddr.in6_u.u6_addr32;
	word[0] = bpf_htonl(net >> 32);
	word[1] = bpf_htonl(net);
	word[2] = bpf_htonl(visitor * 0x9e3779b1U);
	word[3] = bpf_htonl(visitor + 1);
	bpf_tail_call_static(ctx, &next_program, 0);
	return XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
