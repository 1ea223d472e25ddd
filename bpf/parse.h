/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the source address of a frame: Ethernet, up to two VLAN tags, IPv4 or IPv6. Nothing behind
 * it is read. */
#ifndef XDP_BLOOM_PARSE_H
#define XDP_BLOOM_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/reason.h"

#define VLAN_TAGS_MAX 2

struct vlan_tag {
	__be16 tci;
	__be16 protocol;
};

enum source_family { SOURCE_NONE, SOURCE_IPV4, SOURCE_IPV6 };

/* What does not belong to the family is left as it was, since setting it would be a fifth of what
 * parsing takes: ask for the family first. The verifier insists on it. */
struct source {
	enum source_family family;
	enum xb_reason reason; /* of none: why */
	__u32 ipv4;	       /* host byte order */
	__u64 hi, lo;	       /* IPv6, host byte order */
	__u32 network;	       /* offset of the IP header */
	__u32 claimed;	       /* frame length by the IP header, for the byte count */
};

/* Every read goes through here: a pointer to size bytes and the cursor behind them, or NULL at the
 * end of the frame. */
struct cursor {
	void *start, *pos, *end;
};

static __always_inline void *cursor_take(struct cursor *cursor, __u32 size)
{
	void *taken = cursor->pos;

	if (taken + size > cursor->end)
		return NULL;
	cursor->pos = taken + size;
	return taken;
}

static __always_inline struct source source_none(enum xb_reason reason)
{
	struct source source;

	source.family = SOURCE_NONE;
	source.reason = reason;
	return source;
}

static __always_inline struct source parse_ipv4(struct cursor *cursor)
{
	__u32 offset = (__u32)(cursor->pos - cursor->start);
	struct iphdr *ip = cursor_take(cursor, sizeof(*ip));
	struct source source;

	if (!ip)
		return source_none(XB_IPV4_SHORT);
	if (ip->version != 4)
		return source_none(XB_IPV4_VERSION);
	if (ip->ihl < 5)
		return source_none(XB_IPV4_IHL);
	source.family = SOURCE_IPV4;
	source.ipv4 = bpf_ntohl(ip->saddr);
	source.network = offset;
	source.claimed = offset + bpf_ntohs(ip->tot_len);
	return source;
}

static __always_inline struct source parse_ipv6(struct cursor *cursor)
{
	__u32 offset = (__u32)(cursor->pos - cursor->start);
	struct ipv6hdr *ip = cursor_take(cursor, sizeof(*ip));
	struct source source;
	__u32 *word;

	if (!ip)
		return source_none(XB_IPV6_SHORT);
	if (ip->version != 6)
		return source_none(XB_IPV6_VERSION);
	word = ip->saddr.in6_u.u6_addr32;
	source.family = SOURCE_IPV6;
	source.hi = ((__u64)bpf_ntohl(word[0]) << 32) | bpf_ntohl(word[1]);
	source.lo = ((__u64)bpf_ntohl(word[2]) << 32) | bpf_ntohl(word[3]);
	source.network = offset;
	source.claimed = offset + (__u32)sizeof(*ip) + bpf_ntohs(ip->payload_len);
	return source;
}

static __always_inline bool is_vlan(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

static __always_inline struct source parse_source(struct xdp_md *ctx)
{
	struct cursor cursor = {
		.start = (void *)(long)ctx->data,
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};
	struct ethhdr *ethernet = cursor_take(&cursor, sizeof(*ethernet));
	__be16 protocol;

	if (!ethernet)
		return source_none(XB_ETHERNET_SHORT);
	protocol = *(__be16 *)(void *)&ethernet->h_proto; /* two bytes at once */
#pragma unroll
	for (int i = 0; i < VLAN_TAGS_MAX; i++) {
		struct vlan_tag *tag;

		if (!is_vlan(protocol))
			break;
		tag = cursor_take(&cursor, sizeof(*tag));
		if (!tag)
			return source_none(XB_VLAN_SHORT);
		protocol = tag->protocol;
	}
	if (protocol == bpf_htons(ETH_P_IP))
		return parse_ipv4(&cursor);
	if (protocol == bpf_htons(ETH_P_IPV6))
		return parse_ipv6(&cursor);
	if (is_vlan(protocol))
		return source_none(XB_VLAN_DEPTH);
	if (protocol == bpf_htons(ETH_P_PPP_SES))
		return source_none(XB_PPPOE);
	return source_none(XB_NOT_IP);
}

#endif
