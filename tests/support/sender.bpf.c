/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live frames: a fresh source in each, every other one listed, sent out of an interface. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/hash.h"

/* One cell for each sender, so that two do not share a line. */
struct sender_state {
	__u32 ifindex;
	__u64 listed, clean;
	__u64 padding[5];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct sender_state);
} senders SEC(".maps");

static __always_inline int send_from(struct xdp_md *ctx, __u32 number)
{
	struct ethhdr *ethernet = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(ethernet + 1);
	struct sender_state *state = bpf_map_lookup_elem(&senders, &number);
	__u64 random;

	if (!state || (void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	random = xb_mix64(state->listed + state->clean + ((__u64)number << 60));
	if (random & 1) {
		/* 10.1.0.0 to 10.1.3.255 are listed one by one, 10.2.0.0/16 as a prefix */
		__u32 source = random & 2 ? 0x0a010000 + (random >> 32) % 1024
					  : 0x0a020000 + (random >> 32) % 65536;

		ip->saddr = bpf_htonl(source);
		state->listed++;
	} else {
		ip->saddr = bpf_htonl(0xac100000 + (random >> 32) % 1048576);
		state->clean++;
	}
	return bpf_redirect(state->ifindex, 0);
}

SEC("xdp")
int send_first(struct xdp_md *ctx)
{
	return send_from(ctx, 0);
}

SEC("xdp")
int send_second(struct xdp_md *ctx)
{
	return send_from(ctx, 1);
}

char _license[] SEC("license") = "GPL";
