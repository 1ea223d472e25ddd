/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling drops to who watches, as many as he asked for; nobody: one word is read. */
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
 * Protocol and ports, as far as they are there: what follows the end the IP header claims is
 * padding. A claim of 0 is none (large segments joined by the kernel).
 */
static __always_inline void watch_transport(struct xdp_md *ctx, const struct source *source,
					    struct xb_drop *drop)
{
	__u32 offset = source->network, claimed, header = 0;
	bool first = true;
	__be16 ports[2];

	if (source->family == SOURCE_IPV4) {
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

static __always_inline struct xb_drop watch_begin(struct xdp_md *ctx, const struct source *source,
						  __u32 reason, __u32 monitored)
{
	struct xb_drop drop = {
		.time = bpf_ktime_get_ns(),
		.ifindex = ctx->ingress_ifindex,
		.reason = reason,
		.monitored = monitored,
	};
	__u32 *address = (__u32 *)drop.source;

	if (source->family == SOURCE_IPV4) {
		drop.family = 4;
		address[0] = bpf_htonl(source->ipv4);
	} else {
		drop.family = 6;
		address[0] = bpf_htonl(source->hi >> 32);
		address[1] = bpf_htonl(source->hi);
		address[2] = bpf_htonl(source->lo >> 32);
		address[3] = bpf_htonl(source->lo);
	}
	return drop;
}

static __noinline int watch_send(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 reason,
				 __u32 monitored)
{
	struct source source = source_at(ctx, network, ipv6);
	struct xb_drop drop;

	if (source.family == SOURCE_NONE)
		return 0;
	drop = watch_begin(ctx, &source, reason, monitored);
	watch_transport(ctx, &source, &drop);
	return bpf_ringbuf_output(&drops, &drop, sizeof(drop), 0);
}

/* Takes one of the tellings that are left. */
static __always_inline bool watch_wants(void)
{
	__u32 first = 0;
	struct xb_watch *now = bpf_map_lookup_elem(&watch, &first);

	return now && now->budget > 0 && __sync_fetch_and_add(&now->budget, -1) > 0;
}

static __always_inline void watch_tell(struct xdp_md *ctx, __u32 network, __u32 ipv6,
				       enum xb_reason reason, bool monitored)
{
	if (watch_wants())
		watch_send(ctx, network, ipv6, reason, monitored);
}

#endif
