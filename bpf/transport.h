/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the header behind the IP header, behind IP options and IPv6 extension headers. */
#ifndef XDP_BLOOM_TRANSPORT_H
#define XDP_BLOOM_TRANSPORT_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "parse.h"

#define EXTENSIONS_MAX 8
#define IPV4_FRAGMENT  0x3fff /* more to come, or an offset */
#define IPV6_FRAGMENT  0xfff9
#define IPV6_OFFSET    0xfff8

/* The header behind the IP header. */
struct transport {
	/* XB_CLEAN, XB_DNS_FRAGMENT, XB_DNS_HEADERS, or XB_DNS_SHORT: cut within the headers */
	enum xb_reason reason;
	__u8 protocol; /* IPPROTO_NONE: there is no such header */
	__u8 later;    /* of an IPv6 fragment that is not the first: what it is a fragment of */
	bool plain;    /* no options and no extension headers are in between */
	__u32 offset;  /* of its header */
	__u32 end;     /* of the packet, by the IP header */
};

static __always_inline struct transport transport_none(void)
{
	return (struct transport){.protocol = IPPROTO_NONE};
}

static __always_inline struct transport transport_ipv4(struct xdp_md *ctx, __u32 network)
{
	struct cursor cursor = cursor_at(ctx, network);
	struct iphdr *ip = cursor_take(&cursor, sizeof(*ip));

	if (!ip)
		return transport_none();
	return (struct transport){
		.reason = (ip->frag_off & bpf_htons(IPV4_FRAGMENT)) ? XB_DNS_FRAGMENT : XB_CLEAN,
		.protocol = ip->protocol,
		.plain = ip->ihl == 5,
		.offset = network + ip->ihl * 4,
		.end = network + bpf_ntohs(ip->tot_len),
	};
}

struct extension {
	__u8 next, length;
	__be16 fragment; /* of a fragment header */
};

/* The extension headers that may stand before UDP or TCP (RFC 8200, section 4). */
static __always_inline bool is_extension(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_DSTOPTS ||
	       protocol == IPPROTO_AH;
}

struct extension_walk {
	struct xdp_md *ctx;
	struct transport *transport;
};

static long transport_next(__u32 round __attribute__((unused)), void *data)
{
	struct extension_walk *walk = data;
	struct transport *transport = walk->transport;
	__u8 protocol = transport->protocol;
	struct extension extension;

	if (!is_extension(protocol))
		return 1;
	if (bpf_xdp_load_bytes(walk->ctx, transport->offset, &extension, sizeof(extension))) {
		transport->protocol = IPPROTO_NONE;
		transport->reason = XB_DNS_SHORT;
		return 1;
	}
	transport->protocol = extension.next;
	transport->offset += protocol == IPPROTO_FRAGMENT ? 8
			     : protocol == IPPROTO_AH	  ? (extension.length + 2) * 4
							  : (extension.length + 1) * 8;
	/* A fragment header of a packet that is whole is passed over (RFC 6946); only the first
	 * fragment goes on with what is announced. */
	if (protocol == IPPROTO_FRAGMENT && extension.fragment & bpf_htons(IPV6_FRAGMENT))
		transport->reason = XB_DNS_FRAGMENT;
	if (protocol == IPPROTO_FRAGMENT && extension.fragment & bpf_htons(IPV6_OFFSET)) {
		transport->later = extension.next;
		if (transport->protocol != IPPROTO_UDP)
			transport->protocol = IPPROTO_NONE;
		return 1;
	}
	return 0;
}

static __always_inline void transport_skip(struct xdp_md *ctx, struct transport *transport)
{
	struct extension_walk walk = {.ctx = ctx, .transport = transport};

	if (!is_extension(transport->protocol))
		return;
	transport->plain = false;
	bpf_loop(EXTENSIONS_MAX, transport_next, &walk, 0);
	if (is_extension(transport->protocol))
		transport->reason = XB_DNS_HEADERS;
}

static __always_inline struct transport transport_ipv6(struct xdp_md *ctx, __u32 network)
{
	struct cursor cursor = cursor_at(ctx, network);
	struct ipv6hdr *ip = cursor_take(&cursor, sizeof(*ip));
	bool whole;

	if (!ip)
		return transport_none();
	/* RFC 2675: hop-by-hop options say how long it is. Linux looks for none, and takes all. */
	whole = !ip->payload_len && ip->nexthdr == IPPROTO_HOPOPTS;
	return (struct transport){
		.protocol = ip->nexthdr,
		.plain = true,
		.offset = network + (__u32)sizeof(*ip),
		.end = whole ? (__u32)bpf_xdp_get_buff_len(ctx)
			     : network + (__u32)sizeof(*ip) + bpf_ntohs(ip->payload_len),
	};
}

#endif
