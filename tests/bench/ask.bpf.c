/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sends questions over a veth, what stands at its other end instead of a filter, and what
 * takes the answers. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <linux/if_ether.h>
#include <linux/ipv6.h>
#include <xdp_bloom/layout.h>
#include "draws.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32); /* response code */
	__type(value, __u64);
} answers SEC(".maps");

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

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1000000);
	__type(key, struct xb_allow6_key);
	__type(value, __u32);
} listed SEC(".maps");

/* What an XDP program with the kernel's own map for prefixes takes at least. */
SEC("xdp")
int drop_listed6(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *header = data + sizeof(struct ethhdr);
	struct xb_allow6_key key = {.length = 128};

	if ((void *)(header + 1) > end || *(__be16 *)(data + 12) != bpf_htons(ETH_P_IPV6))
		return XDP_PASS;
	__builtin_memcpy(key.address, &header->saddr, sizeof(key.address));
	return bpf_map_lookup_elem(&listed, &key) ? XDP_DROP : XDP_PASS;
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

char _license[] SEC("license") = "GPL";
