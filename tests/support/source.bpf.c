/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the next source into the frame and hands it on, so that one test run has many sources. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "source.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next_program SEC(".maps");

__u32 number, step = 1, seed;
__u32 stable_count;
__u64 stable[SOURCE_STABLE];

static __always_inline int from_ipv4(struct xdp_md *ctx, __u32 address)
{
	struct iphdr *ip = (void *)(long)ctx->data + sizeof(struct ethhdr);

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	ip->saddr = bpf_htonl(address);
	number += step;
	bpf_tail_call_static(ctx, &next_program, 0);
	return XDP_ABORTED;
}

static __always_inline int from_ipv6(struct xdp_md *ctx, struct source6 source)
{
	struct ipv6hdr *ip = (void *)(long)ctx->data + sizeof(struct ethhdr);
	__u32 *word;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	word = ip->saddr.in6_u.u6_addr32;
	word[0] = bpf_htonl(source.hi >> 32);
	word[1] = bpf_htonl(source.hi);
	word[2] = bpf_htonl(source.lo >> 32);
	word[3] = bpf_htonl(source.lo);
	number += step;
	bpf_tail_call_static(ctx, &next_program, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int innocent4(struct xdp_md *ctx)
{
	return from_ipv4(ctx, source_unmarked4(number, seed));
}

SEC("xdp")
int innocent6(struct xdp_md *ctx)
{
	return from_ipv6(ctx, source_innocent6(number, seed));
}

static __always_inline __u64 next_stable(void)
{
	return stable[number % stable_count % SOURCE_STABLE];
}

SEC("xdp")
int stable4(struct xdp_md *ctx)
{
	return from_ipv4(ctx, next_stable());
}

SEC("xdp")
int stable6(struct xdp_md *ctx)
{
	return from_ipv6(ctx, (struct source6){.hi = next_stable(), .lo = number});
}

SEC("xdp")
int visitor4(struct xdp_md *ctx)
{
	return from_ipv4(ctx, source_scatter(number, 0));
}

SEC("xdp")
int visitor6(struct xdp_md *ctx)
{
	return from_ipv6(
		ctx, (struct source6){.hi = source_visitor6(number), .lo = xb_mix64(number + 1)});
}

char _license[] SEC("license") = "GPL";
