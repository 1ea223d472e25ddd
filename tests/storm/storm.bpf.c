// SPDX-License-Identifier: GPL-2.0-or-later
/* Both ends of a veth under the storm: a sender of frames by chance, each with another source, and
 * a receiver that counts what has passed the filter and lets nothing further. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "storm.h"

const volatile __u32 ifindex, seed;
const volatile struct storm_frame frames[STORM_KINDS];
__u64 number, sent[STORM_KINDS], received[STORM_KINDS];

static __always_inline void put_source4(void *data, __u32 address)
{
	*(__be32 *)(data + STORM_SOURCE4) = bpf_htonl(address);
}

static __always_inline void put_source6(void *data, __u64 hi, __u64 lo)
{
	__be32 *words = data + STORM_SOURCE6;

	words[0] = bpf_htonl(hi >> 32);
	words[1] = bpf_htonl(hi);
	words[2] = bpf_htonl(lo >> 32);
	words[3] = bpf_htonl(lo);
}

static __always_inline void put_source(void *data, enum storm_kind kind, __u32 n, __u64 random)
{
	struct source6 clean = source_innocent6(n, seed);
	__u32 any = random >> 32;
	__u64 net6;

	switch (kind) {
	case STORM_HOST4:
		put_source4(data, storm_host4(any, seed));
		break;
	case STORM_PREFIX4:
		put_source4(data, storm_prefix4(any, seed) | (any >> 20));
		break;
	case STORM_NET6:
		net6 = storm_net6(any);
		put_source6(data, net6 | (any & 1 ? 0 : clean.lo >> 32), clean.lo);
		break;
	case STORM_SCOPED4:
	case STORM_OTHER4:
		put_source4(data, storm_scoped4(any, seed));
		break;
	case STORM_SCOPED6:
		put_source6(data, storm_scoped6(any), clean.lo);
		break;
	case STORM_CLEAN6:
		put_source6(data, clean.hi, clean.lo);
		break;
	case STORM_ALLOWED:
		put_source4(data, STORM_ALLOWED4 | (any & 255));
		break;
	default:
		put_source4(data, source_unmarked4(n, seed));
	}
}

SEC("xdp")
int storm_send(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 n = number++, random = xb_mix64(n + ((__u64)seed << 32));
	__u32 kind = ((__u32)random & 0xffff) * STORM_KINDS >> 16;
	__u64 *words = data;

	if (data + STORM_FRAME > end)
		return XDP_ABORTED;
#pragma unroll
	for (int i = 0; i < STORM_FRAME / 8; i++)
		words[i] = frames[kind].word[i];
	put_source(data, kind, (__u32)n, random);
	sent[kind]++;
	return bpf_redirect(ifindex, 0);
}

SEC("tc")
int storm_receive(struct __sk_buff *skb)
{
	__u8 *kind = (void *)(long)skb->data + STORM_KIND_AT;

	if ((void *)(kind + 1) <= (void *)(long)skb->data_end && *kind < STORM_KINDS)
		__sync_fetch_and_add(&received[*kind], 1);
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
