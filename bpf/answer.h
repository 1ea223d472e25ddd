/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers a query in its own frame: turned round, the question kept as it came. */
#ifndef XDP_BLOOM_ANSWER_H
#define XDP_BLOOM_ANSWER_H

#include <linux/bpf.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "account.h"
#include "name.h"
#include "query.h"

/* RFC 1035, section 4.1.1; RFC 6891, section 6.1.2 and 6.1.3. */
#define FLAGS_QR       0x80 /* first byte */
#define FLAGS_OPCODE   0x78
#define FLAGS_TC       0x02
#define FLAGS_RD       0x01
#define FLAGS_RA       0x80 /* second byte */
#define FLAGS_CD       0x10
#define RCODE_NXDOMAIN 3
#define RCODE_REFUSED  5
#define OPT_TYPE       41
#define OPT_OUR_SIZE   1232 /* bytes of UDP we take: DNS flag day 2020 */
#define ANSWER_TTL     64
#define FRAME_MIN      60
#define SECOND	       1000000000ULL /* ns */

static __always_inline __u8 *message_at(struct name *name, __u32 at)
{
	return &name->message[at & 511];
}

static __always_inline __u32 first_buffer(struct xdp_md *ctx)
{
	return (void *)(long)ctx->data_end - (void *)(long)ctx->data;
}

/* The one additional record a query may have: OPT, version 0, whole, the last. */
static __always_inline bool is_plain_opt(struct name *name)
{
	__u8 *opt = message_at(name, name->query.end);

	return name->query.size >= name->query.end + OPT_FIXED && !opt[0] && !opt[1] &&
	       opt[2] == OPT_TYPE && !opt[6] &&
	       name->query.size == name->query.end + OPT_FIXED + (opt[9] << 8 | opt[10]);
}

/* Whether the query can be answered: it asks for nothing that the filter does not implement, and
 * its sender can get the answer. */
static __always_inline bool is_answerable(struct xdp_md *ctx, struct name *name, bool edns)
{
	struct cursor cursor = cursor_at(ctx, 0);
	struct ethhdr *ethernet = cursor_take(&cursor, sizeof(*ethernet));
	const __u8 *message = name->message;

	if (!ethernet || (ethernet->h_dest[0] | ethernet->h_source[0]) & 1 || !name->udp.source)
		return false;
	/* All of the frame is in one buffer, also what stands behind the message, and no header
	 * would have to be rebuilt. */
	if (!name->transport.plain || name->query.message + name->query.size > first_buffer(ctx) ||
	    bpf_xdp_get_buff_len(ctx) != first_buffer(ctx))
		return false;
	/* No answers, no authorities; at most one additional record, see is_plain_opt(). */
	if (message[6] | message[7] | message[8] | message[9] | message[10] | message[11] >> 1)
		return false;
	return edns ? is_plain_opt(name) : name->query.size == name->query.end;
}

/* The header and OPT of an answer, in the scratch; returns its size. */
static __always_inline __u32 answer_message(struct name *name, enum xb_reason reason, bool edns)
{
	__u8 *message = name->message, *opt = message_at(name, name->query.end);
	__u8 *pad = opt;

	message[2] =
		FLAGS_QR | (message[2] & FLAGS_RD) | (reason == XB_NAME_TRUNCATED ? FLAGS_TC : 0);
	message[3] = FLAGS_RA | (message[3] & FLAGS_CD) |
		     (reason == XB_NAME_NXDOMAIN  ? RCODE_NXDOMAIN
		      : reason == XB_NAME_REFUSED ? RCODE_REFUSED
						  : 0);
	if (edns) {
		opt[3] = OPT_OUR_SIZE >> 8;
		opt[4] = OPT_OUR_SIZE & 0xff;
		opt[5] = 0;
		opt[7] &= 0x80; /* DO is copied, RFC 3225 */
		opt[8] = opt[9] = opt[10] = 0;
		pad += OPT_FIXED;
	}
	*(__u64 *)pad = 0; /* for the sum */
	return name->query.end + (edns ? OPT_FIXED : 0);
}

static __always_inline __u16 folded(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

/* RFC 768; RFC 8200, section 8.1. Adds the message, of which the last word ends in zeros, to the
 * sum of the addresses. */
static __always_inline __u16 udp_sum(const struct name *name, const struct udphdr *udp, __u32 size,
				     __u64 sum)
{
	__u32 words = (size + 7) / 8;
	__u16 check;

	for (__u32 i = 0; i < (MESSAGE_BYTES + 7) / 8 && i < words; i++) {
		__u64 word = *(const __u64 *)(name->message + 8 * i);

		sum += (__u32)word;
		sum += word >> 32;
	}
	sum += udp->source + udp->dest + 2 * (__u64)udp->len + bpf_htons(IPPROTO_UDP);
	check = folded(sum);
	return check ? check : 0xffff;
}

/* False for 0.0.0.0/8, 127.0.0.0/8, and from 224.0.0.0 on: no host has such an address. */
static __always_inline bool is_host4(__be32 address)
{
	__u32 first = address & 0xff;

	return first && first != 127 && first < 224;
}

/* Neither a group nor in ::/96. */
static __always_inline bool is_host6(const struct in6_addr *address)
{
	const __u32 *words = address->in6_u.u6_addr32;

	return address->in6_u.u6_addr8[0] != 0xff && (words[0] | words[1] | words[2]);
}

static __always_inline bool turn_ipv4(struct cursor *cursor, __u32 size, __u64 *addresses)
{
	struct iphdr *ip = cursor_take(cursor, sizeof(*ip));
	__u32 *words = (__u32 *)ip, source;
	__u64 sum = 0;

	if (!ip)
		return false;
	source = ip->saddr;
	if (!is_host4(source) || !is_host4(ip->daddr))
		return false;
	ip->saddr = ip->daddr;
	ip->daddr = source;
	ip->tot_len = bpf_htons(sizeof(*ip) + sizeof(struct udphdr) + size);
	ip->ttl = ANSWER_TTL;
	ip->check = 0;
#pragma unroll
	for (__u32 i = 0; i < sizeof(*ip) / 4; i++)
		sum += words[i];
	ip->check = folded(sum);
	*addresses = (__u64)ip->saddr + ip->daddr;
	return true;
}

static __always_inline bool turn_ipv6(struct cursor *cursor, __u32 size, __u64 *addresses)
{
	struct ipv6hdr *ip = cursor_take(cursor, sizeof(*ip));
	__u32 *from, *to;
	__u64 sum = 0;

	if (!ip)
		return false;
	from = ip->saddr.in6_u.u6_addr32;
	to = ip->daddr.in6_u.u6_addr32;
	if (!is_host6(&ip->saddr) || !is_host6(&ip->daddr))
		return false;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		__u32 word = from[i];

		sum += (__u64)word + to[i];
		from[i] = to[i];
		to[i] = word;
	}
	ip->payload_len = bpf_htons(sizeof(struct udphdr) + size);
	ip->hop_limit = ANSWER_TTL;
	*addresses = sum;
	return true;
}

static __always_inline void turn_ethernet(struct ethhdr *ethernet)
{
	__u16 *to = (__u16 *)ethernet->h_dest, *from = (__u16 *)ethernet->h_source;

#pragma unroll
	for (int i = 0; i < 3; i++) {
		__u16 word = to[i];

		to[i] = from[i];
		from[i] = word;
	}
}

/* Ports, length, sum and DNS header; the question stays. cursor: behind the IP header. */
static __always_inline bool turn_udp(struct cursor *cursor, const struct name *name, __u32 size,
				     __u64 addresses)
{
	struct udphdr *udp = cursor_take(cursor, sizeof(*udp));
	__u16 *flags = cursor_take(cursor, DNS_HEADER);
	__be16 port;

	if (!udp || !flags)
		return false;
	port = udp->source;
	udp->source = udp->dest;
	udp->dest = port;
	udp->len = bpf_htons(sizeof(*udp) + size);
	udp->check = udp_sum(name, udp, size, addresses);
	flags[1] = *(const __u16 *)(name->message + 2);
	return true;
}

static __always_inline bool turn_opt(struct xdp_md *ctx, struct name *name)
{
	__u32 offset = name->query.message + name->query.end;
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u8 *to = data + (offset & 1023), *from = message_at(name, name->query.end);

	if ((void *)(to + OPT_FIXED) > end)
		return false;
	__builtin_memcpy(to, from, OPT_FIXED);
	return true;
}

/*
 * The length of a PPPoE session's payload: the PPP protocol, of one byte or two, and the packet.
 * Only behind such a header is the IP header further back than behind two VLAN tags, or as far; and
 * then its EtherType stands where else a tag or its type does.
 */
static __always_inline bool turn_pppoe(struct xdp_md *ctx, __u32 network, __u32 packet)
{
	__u32 one = network & 1, header = network - sizeof(struct pppoe_session) + one;
	struct cursor cursor;
	struct pppoe_session *session;
	__be16 *type;

	if (network < sizeof(struct ethhdr) + sizeof(struct pppoe_session) - 1)
		return true;
	cursor = cursor_at(ctx, header - sizeof(*type));
	type = cursor_take(&cursor, sizeof(*type));
	session = cursor_take(&cursor, sizeof(*session));
	if (!type || !session)
		return false;
	if (*type == bpf_htons(ETH_P_PPP_SES))
		session->length = bpf_htons(sizeof(session->protocol) - one + packet);
	return true;
}

static __always_inline bool turn(struct xdp_md *ctx, const struct name *name, __u32 size)
{
	struct cursor cursor = cursor_at(ctx, 0);
	struct ethhdr *ethernet = cursor_take(&cursor, sizeof(*ethernet));
	__u64 addresses;

	cursor = cursor_at(ctx, name->network);
	if (!ethernet || !(name->ipv6 ? turn_ipv6(&cursor, size, &addresses)
				      : turn_ipv4(&cursor, size, &addresses)))
		return false;
	turn_ethernet(ethernet);
	return turn_udp(&cursor, name, size, addresses) &&
	       turn_pppoe(ctx, name->network, name->query.message - name->network + size);
}

/* Cuts off what stands behind the answer, except the padding of short frames. */
static __always_inline bool trim(struct xdp_md *ctx, __u32 end)
{
	__u32 now = first_buffer(ctx), floor = now < FRAME_MIN ? now : FRAME_MIN;

	if (end < floor)
		end = floor;
	return end == now || !bpf_xdp_adjust_tail(ctx, (int)end - (int)now);
}

/*
 * Whether one more answer is within the limit, by the generic cell rate algorithm (ITU-T I.371,
 * annex A): a token bucket that stores only a time. A burst may have the answers of one second.
 * Each CPU has its own, so no CPU waits for a line of another.
 */
static __always_inline bool within_limit(struct name *name)
{
	__u64 now, due;

	if (!params.answer_limit)
		return true;
	now = bpf_ktime_get_coarse_ns();
	due = name->answer_due;
	if (due < now)
		due = now;
	due += SECOND / params.answer_limit;
	if (due > now + SECOND)
		return false;
	name->answer_due = due;
	return true;
}

/* Whether the tag of the query's VLAN may be lost: an answer would leave on another VLAN. */
static __always_inline bool is_mute(struct xdp_md *ctx)
{
	__u32 row = stats_row(ctx->ingress_ifindex);
	struct xb_iface_note *note = bpf_map_lookup_elem(&notes, &row);

	return note && note->mute != XB_MUTE_NONE;
}

/*
 * Turns the frame into the answer for this reason, and returns it. The caller drops the frame after
 * XB_NAME_UNANSWERED (it cannot be answered) and XB_NAME_LIMITED (the limit is reached). The
 * incoming checksum is not checked: virtual interfaces deliver frames before it is filled in.
 */
static __always_inline int answer(struct xdp_md *ctx, struct name *name, __u32 reason)
{
	bool edns = name->message[11] & 1;
	__u32 size;

	if (!is_answerable(ctx, name, edns) || is_mute(ctx))
		return XB_NAME_UNANSWERED;
	size = answer_message(name, reason, edns);
	if ((edns && !turn_opt(ctx, name)) || !turn(ctx, name, size))
		return XB_NAME_UNANSWERED;
	/* Only a query that can be answered counts. */
	if (!within_limit(name))
		return XB_NAME_LIMITED;
	return trim(ctx, name->query.message + size) ? reason : XB_NAME_UNANSWERED;
}

#endif
