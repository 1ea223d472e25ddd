/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the source address of a frame: Ethernet, up to two VLAN tags, perhaps a PPPoE session, IPv4
 * or IPv6. Nothing behind it is read. */
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

/* RFC 2516, section 4, and the PPP protocol behind it (RFC 1661, section 2). */
struct pppoe_session {
	__u8 version_type, code;
	__be16 session, length;
	__u8 protocol[2];
};

#define PPP_IPV4 0x21
#define PPP_IPV6 0x57

enum source_family { SOURCE_NONE, SOURCE_IPV4, SOURCE_IPV6 };

/* Fields of another family are not set, because that would take a fifth of the time of parsing.
 * Check the family first; the verifier insists on it. */
struct source {
	enum source_family family;
	enum xb_reason reason; /* with SOURCE_NONE: why there is none */
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

static __always_inline struct cursor cursor_at(struct xdp_md *ctx, __u32 offset)
{
	void *start = (void *)(long)ctx->data;

	return (struct cursor){
		.start = start, .pos = start + (offset & 63), .end = (void *)(long)ctx->data_end};
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
	/* clang 19 would keep what was never written, which the verifier refuses. */
	source.ipv4 = 0;
	source.hi = ((__u64)bpf_ntohl(word[0]) << 32) | bpf_ntohl(word[1]);
	source.lo = ((__u64)bpf_ntohl(word[2]) << 32) | bpf_ntohl(word[3]);
	source.network = offset;
	source.claimed = offset + (__u32)sizeof(*ip) + bpf_ntohs(ip->payload_len);
	return source;
}

/* Whether the frame has so many bytes behind the cursor. Asks about all buffers only if the first
 * does not have them. */
static __always_inline bool cursor_has(struct xdp_md *ctx, const struct cursor *cursor, __u32 size)
{
	__u32 end = (__u32)(cursor->pos - cursor->start) + size;

	return end <= (__u32)(cursor->end - cursor->start) || end <= bpf_xdp_get_buff_len(ctx);
}

/*
 * Enters a PPPoE session. *protocol becomes the EtherType of the packet inside, or 0 for neither
 * IPv4 nor IPv6. Like Linux, this ignores version, type and code; the protocol must be within the
 * session's length, and that within the frame. A protocol may be compressed to its second byte if
 * that is odd (RFC 1661, section 6.5); RFC 2516 advises against it, but Linux takes it without
 * negotiation.
 */
static __always_inline enum xb_reason pppoe_enter(struct xdp_md *ctx, struct cursor *cursor,
						  __be16 *protocol)
{
	struct pppoe_session *session = cursor_take(cursor, sizeof(*session));
	__u32 length, bytes;
	__u8 high, low;

	if (!session)
		return XB_PPPOE_SHORT;
	length = bpf_ntohs(session->length);
	high = session->protocol[0];
	low = session->protocol[1];
	bytes = high & 1 ? 1 : 2;
	cursor->pos -= sizeof(session->protocol);
	if (length < bytes || !cursor_has(ctx, cursor, length))
		return XB_PPPOE_HEADER;
	cursor->pos += bytes;
	if (high & 1)
		low = high;
	else if (high)
		low = 0;
	*protocol = low == PPP_IPV4   ? bpf_htons(ETH_P_IP)
		    : low == PPP_IPV6 ? bpf_htons(ETH_P_IPV6)
				      : 0;
	return XB_PPPOE;
}

static __always_inline bool is_vlan(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

static __always_inline bool is_ip(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_IP) || protocol == bpf_htons(ETH_P_IPV6);
}

/* Passes the headers between Ethernet and IP. Returns XB_CLEAN, with the EtherType of IPv4 or IPv6
 * in *protocol, or the reason why there is no IP packet. */
static __always_inline enum xb_reason network_enter(struct xdp_md *ctx, struct cursor *cursor,
						    __be16 *protocol)
{
	enum xb_reason reason = XB_NOT_IP;

#pragma unroll
	for (int i = 0; i < VLAN_TAGS_MAX; i++) {
		struct vlan_tag *tag;

		if (!is_vlan(*protocol))
			break;
		tag = cursor_take(cursor, sizeof(*tag));
		if (!tag)
			return XB_VLAN_SHORT;
		*protocol = tag->protocol;
	}
	if (is_vlan(*protocol))
		return XB_VLAN_DEPTH;
	if (*protocol == bpf_htons(ETH_P_PPP_SES))
		reason = pppoe_enter(ctx, cursor, protocol);
	return is_ip(*protocol) ? XB_CLEAN : reason;
}

/* Most frames have no header in between, so this case comes first. */
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
	if (!is_ip(protocol)) {
		enum xb_reason reason = network_enter(ctx, &cursor, &protocol);

		if (reason != XB_CLEAN)
			return source_none(reason);
	}
	return protocol == bpf_htons(ETH_P_IP) ? parse_ipv4(&cursor) : parse_ipv6(&cursor);
}

/* Reads the source again, at the offset of its IP header: for rare steps in functions of their own.
 */
static __always_inline struct source source_at(struct xdp_md *ctx, __u32 network, __u32 ipv6)
{
	struct cursor cursor = cursor_at(ctx, network);

	return ipv6 ? parse_ipv6(&cursor) : parse_ipv4(&cursor);
}

#endif
