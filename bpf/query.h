/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the DNS query in a frame: UDP to a DNS port, behind IP options and IPv6 extension headers.
 */
#ifndef XDP_BLOOM_QUERY_H
#define XDP_BLOOM_QUERY_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "params.h"
#include "parse.h"

#define EXTENSIONS_MAX 8
#define IPV4_FRAGMENT  0x3fff /* more to come, or an offset */
#define IPV4_OFFSET    0x1fff
#define IPV6_FRAGMENT  0xfff9

/* What the IP header is followed by. */
struct transport {
	enum xb_reason reason; /* XB_CLEAN, or why it was not found */
	__u8 protocol;
	bool plain;   /* no options and no extension headers are in between */
	__u32 offset; /* of its header */
	__u32 end;    /* of the packet, by the IP header */
};

static __always_inline bool ports_have(const volatile __u16 ports[XB_NAME_PORTS], __be16 port)
{
	bool have = false;

#pragma unroll
	for (int i = 0; i < XB_NAME_PORTS; i++)
		if (ports[i])
			have |= port == bpf_htons(ports[i]);
	return have;
}

static __always_inline bool is_tcp_wanted(void)
{
	return params.ports.tls[0] || params.ports.http[0];
}

static __always_inline struct cursor cursor_at(struct xdp_md *ctx, __u32 offset)
{
	void *start = (void *)(long)ctx->data;

	return (struct cursor){
		.start = start, .pos = start + (offset & 63), .end = (void *)(long)ctx->data_end};
}

static __always_inline struct transport transport_none(void)
{
	return (struct transport){.protocol = IPPROTO_NONE};
}

static __always_inline struct transport transport_ipv4(struct xdp_md *ctx, __u32 network)
{
	struct cursor cursor = cursor_at(ctx, network);
	struct iphdr *ip = cursor_take(&cursor, sizeof(*ip));

	/* In a later fragment the ports are not where they would be. */
	if (!ip || (ip->protocol != IPPROTO_UDP && ip->frag_off & bpf_htons(IPV4_OFFSET)))
		return transport_none();
	return (struct transport){
		.reason = ip->frag_off & bpf_htons(IPV4_FRAGMENT) ? XB_DNS_FRAGMENT : XB_CLEAN,
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

/* Behind the extension headers that may stand before UDP or TCP (RFC 8200, section 4). */
static __always_inline void transport_skip(struct xdp_md *ctx, struct transport *transport)
{
	struct extension extension;

	for (int i = 0; i <= EXTENSIONS_MAX; i++) {
		__u32 bytes;

		if (transport->protocol != IPPROTO_HOPOPTS &&
		    transport->protocol != IPPROTO_ROUTING &&
		    transport->protocol != IPPROTO_FRAGMENT &&
		    transport->protocol != IPPROTO_DSTOPTS && transport->protocol != IPPROTO_AH)
			return;
		if (i == EXTENSIONS_MAX)
			break;
		transport->plain = false;
		if (bpf_xdp_load_bytes(ctx, transport->offset, &extension, sizeof(extension))) {
			*transport = transport_none();
			return;
		}
		bytes = (extension.length + 1) * 8;
		if (transport->protocol == IPPROTO_AH)
			bytes = (extension.length + 2) * 4;
		if (transport->protocol == IPPROTO_FRAGMENT) {
			bytes = 8;
			if (extension.fragment & bpf_htons(IPV6_FRAGMENT))
				transport->reason = XB_DNS_FRAGMENT;
		}
		transport->protocol = extension.next;
		transport->offset += bytes;
		/* Only the first fragment goes on with what is announced. */
		if (transport->reason == XB_DNS_FRAGMENT &&
		    extension.fragment & bpf_htons(0xfff8)) {
			if (transport->protocol != IPPROTO_UDP)
				*transport = transport_none();
			return;
		}
	}
	transport->reason = XB_DNS_HEADERS;
}

static __always_inline struct transport transport_ipv6(struct xdp_md *ctx, __u32 network)
{
	struct cursor cursor = cursor_at(ctx, network);
	struct ipv6hdr *ip = cursor_take(&cursor, sizeof(*ip));
	struct transport transport;

	if (!ip)
		return transport_none();
	transport = (struct transport){
		.protocol = ip->nexthdr,
		.plain = true,
		.offset = network + (__u32)sizeof(*ip),
		.end = network + (__u32)sizeof(*ip) + bpf_ntohs(ip->payload_len),
	};
	transport_skip(ctx, &transport);
	return transport;
}

/*
 * Whether a frame may carry a name; most packets are let go here, so this is inlined where they
 * pass. What stands behind options, extension headers, and in fragments is looked at later.
 */
static __always_inline bool may_carry_name(struct xdp_md *ctx, const struct source *source)
{
	struct cursor cursor = cursor_at(ctx, source->network);
	__u8 protocol;
	__be16 *port;

	if (source->family == SOURCE_IPV4) {
		struct iphdr *ip = cursor_take(&cursor, sizeof(*ip));

		if (!ip)
			return false;
		protocol = ip->protocol;
		if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP)
			return false;
		if (ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_FRAGMENT))
			return true;
	} else if (source->family == SOURCE_IPV6) {
		struct ipv6hdr *ip = cursor_take(&cursor, sizeof(*ip));

		if (!ip)
			return false;
		protocol = ip->nexthdr;
		if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP)
			return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
			       protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_DSTOPTS ||
			       protocol == IPPROTO_AH;
	} else {
		return false;
	}
	port = cursor_take(&cursor, 2 * sizeof(*port));
	if (!port)
		return false;
	port++;
	if (ports_have(params.ports.dns, *port))
		return true;
	return protocol == IPPROTO_TCP && is_tcp_wanted() &&
	       (ports_have(params.ports.tls, *port) || ports_have(params.ports.http, *port));
}

#endif
