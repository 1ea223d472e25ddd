/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a frame may carry a name, and where its DNS query is. */
#ifndef XDP_BLOOM_QUERY_H
#define XDP_BLOOM_QUERY_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "params.h"
#include "parse.h"
#include "transport.h"

/* A DNS query with one question. */
struct query {
	__u32 message; /* offset of the DNS header */
	__u32 size;    /* of the message */
	__u32 end;     /* of the question, from the start of the message */
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

/*
 * Whether a frame may carry a name. Most packets pass here, so this is inlined. Ports behind
 * options, behind extension headers and in fragments are looked at later.
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
			return is_extension(protocol);
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
