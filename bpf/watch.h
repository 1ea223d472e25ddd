/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports drops to a watcher, as many as it asks for. Without a watcher this reads one word. */
#ifndef XDP_BLOOM_WATCH_H
#define XDP_BLOOM_WATCH_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "anchor.h"
#include "parse.h"

static __always_inline bool has_ports(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_UDPLITE;
}

/*
 * Notes protocol and ports, as far as they are there: bytes behind the end that the IP header
 * claims are padding. A claim of 0 does not count (large segments that the kernel joined).
 */
static __always_inline void watch_transport(struct xdp_md *ctx, __u32 network, __u32 ipv6,
					    struct xb_drop *drop)
{
	__u32 offset = network, claimed, header = 0;
	bool first = true;
	__be16 ports[2];

	if (!ipv6) {
		struct iphdr ip;

		if (bpf_xdp_load_bytes(ctx, offset, &ip, sizeof(ip)))
			return;
		drop->protocol = ip.protocol;
		first = !(ip.frag_off & bpf_htons(0x1fff));
		claimed = bpf_ntohs(ip.tot_len);
		header = ip.ihl * 4;
		offset += header;
	} else {
		struct ipv6hdr ip;

		if (bpf_xdp_load_bytes(ctx, offset, &ip, sizeof(ip)))
			return;
		drop->protocol = ip.nexthdr;
		claimed = bpf_ntohs(ip.payload_len);
		offset += sizeof(ip);
	}
	if (!first || !has_ports(drop->protocol) || (claimed && claimed < header + sizeof(ports)) ||
	    bpf_xdp_load_bytes(ctx, offset, ports, sizeof(ports)))
		return;
	drop->sport = ports[0];
	drop->dport = ports[1];
}

static __always_inline bool watch_ipv4(struct cursor *cursor, struct xb_drop *drop)
{
	const struct iphdr *ip = cursor_take(cursor, sizeof(*ip));

	if (!ip)
		return false;
	drop->family = 4;
	__builtin_memcpy(drop->source, &ip->saddr, sizeof(ip->saddr));
	__builtin_memcpy(drop->destination, &ip->daddr, sizeof(ip->daddr));
	return true;
}

static __always_inline bool watch_ipv6(struct cursor *cursor, struct xb_drop *drop)
{
	const struct ipv6hdr *ip = cursor_take(cursor, sizeof(*ip));

	if (!ip)
		return false;
	drop->family = 6;
	__builtin_memcpy(drop->source, &ip->saddr, sizeof(ip->saddr));
	__builtin_memcpy(drop->destination, &ip->daddr, sizeof(ip->daddr));
	return true;
}

/* When, where, and the addresses; the rest is 0. False: there is no IP header. */
static __always_inline bool watch_begin(struct xdp_md *ctx, __u32 network, __u32 ipv6,
					struct xb_drop *drop)
{
	struct cursor cursor = cursor_at(ctx, network);

	*drop = (struct xb_drop){
		.time = bpf_ktime_get_ns(),
		.ifindex = ctx->ingress_ifindex,
	};
	return ipv6 ? watch_ipv6(&cursor, drop) : watch_ipv4(&cursor, drop);
}

/* reason: with the number of a limit above its first 8 bits. */
static __noinline int watch_send(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 reason,
				 __u32 monitored)
{
	struct xb_drop drop;

	if (!watch_begin(ctx, network, ipv6, &drop))
		return 0;
	drop.reason = reason;
	drop.limit = reason >> 8;
	drop.monitored = monitored;
	watch_transport(ctx, network, ipv6, &drop);
	return bpf_ringbuf_output(&drops, &drop, sizeof(drop), 0);
}

/* Whether a watcher wants another report; takes one from its budget. */
static __always_inline bool watch_wants(void)
{
	__u32 first = 0;
	struct xb_watch *now = bpf_map_lookup_elem(&watch, &first);

	return now && now->budget > 0 && __sync_fetch_and_add(&now->budget, -1) > 0;
}

static __always_inline void watch_tell(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 reason,
				       bool monitored)
{
	if (watch_wants())
		watch_send(ctx, network, ipv6, reason, monitored);
}

#endif
