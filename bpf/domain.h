/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges a packet by the name that it carries: the stage behind the one for sources. */
#ifndef XDP_BLOOM_DOMAIN_H
#define XDP_BLOOM_DOMAIN_H

#include "answer.h"
#include "bits.h"
#include "hello.h"
#include "name.h"
#include "policy.h"
#include "query.h"
#include "topnames.h"
#include "watch.h"

#define COPY_WORDS ((sizeof(struct udphdr) + MESSAGE_BYTES) / 8)

/* Brings at least 8 bytes to name->udp, in words: a fifth of the helper's cost. The last word may
 * overlap the one before. False: not all of it is in the first buffer. */
static __always_inline bool query_copy(struct xdp_md *ctx, struct name *name, __u32 offset,
				       __u32 bytes)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 *from = data + (offset & 511), *to = (__u64 *)&name->udp;
	__u32 words = bytes / 8, rest = (bytes - 8) & 511;

	if (offset > 511)
		return false;
	for (__u32 i = 0; i < COPY_WORDS && i < words; i++) {
		if ((void *)(from + i + 1) > end)
			return false;
		to[i] = from[i];
	}
	from = data + (offset & 511) + rest;
	if ((void *)(from + 1) > end)
		return false;
	*(__u64 *)((void *)to + rest) = *from;
	return true;
}

/* UDP header and message, as far as they can matter, in the scratch. XB_NAME_CLEAN: it is a query
 * with one question, of which the name is not looked at yet. */
static __always_inline enum xb_reason query_load(struct xdp_md *ctx, struct name *name)
{
	__u32 offset = name->transport.offset, room = name->transport.end - offset;
	const __u8 *message = name->message;
	__u32 bytes, length;

	if (room > 0xffff || room < sizeof(struct udphdr) + DNS_HEADER)
		return XB_DNS_SHORT;
	bytes = bounded(room, sizeof(struct udphdr) + DNS_HEADER,
			sizeof(struct udphdr) + MESSAGE_BYTES);
	if (!query_copy(ctx, name, offset, bytes) &&
	    bpf_xdp_load_bytes(ctx, offset, &name->udp, bytes))
		return XB_DNS_SHORT;
	length = bpf_ntohs(name->udp.len);
	/* RFC 2675, section 4: all of the packet; hosts take it for that in any packet. */
	if (!length && name->ipv6)
		length = room;
	if (length < sizeof(struct udphdr) + DNS_HEADER || length > room)
		return XB_DNS_SHORT;
	name->query.message = offset + (__u32)sizeof(struct udphdr);
	name->query.size = length - (__u32)sizeof(struct udphdr);
	if (message[2] & FLAGS_QR)
		return XB_DNS_RESPONSE;
	if (message[2] & FLAGS_OPCODE)
		return XB_DNS_OPCODE;
	if (message[4] || message[5] != 1)
		return XB_DNS_QUESTIONS;
	return XB_NAME_CLEAN;
}

_Static_assert(XB_NAME_COUNTED - XB_NAME_DROPPED == XB_DOMAIN_COUNT,
	       "reasons in order of verdicts");

/* The reason that a verdict has for a query. */
static __always_inline enum xb_reason reason_of(__u32 verdict)
{
	return verdict < XB_DOMAIN_VERDICTS ? XB_NAME_DROPPED + verdict : XB_NAME_DROPPED;
}

/* Notes for a watcher what is lost when an answer turns the packet round. */
static __noinline int domain_note(struct xdp_md *ctx, struct name *name)
{
	struct xb_drop *drop = &name->told.drop;

	if (!watch_begin(ctx, name->network, name->ipv6, drop))
		return 0;
	drop->protocol = name->transport.protocol;
	drop->sport = name->udp.source;
	drop->dport = name->udp.dest;
	drop->name_bytes = name->bytes;
	__builtin_memcpy(name->told.name, &name->message[DNS_HEADER], sizeof(name->told.name));
	return 0;
}

/* Judges the name in the scratch, which is cut: XB_NAME_CLEAN, XB_NAME_ALLOWED, or the reason of
 * its verdict. */
static __always_inline int name_judge(struct name *name)
{
	__u32 zero = 0;
	struct xb_depths *depths = bpf_map_lookup_elem(&name_depths, &zero);

	if (!depths || name_listed(name, depths) >= XB_DOMAIN_VERDICTS)
		return XB_NAME_CLEAN;
	if (depths->allowed && name_allowed(name, depths->allowed))
		return XB_NAME_ALLOWED;
	return reason_of(name->verdict);
}

/* Whether the reason comes from a verdict. */
static __always_inline bool is_verdict(enum xb_reason reason)
{
	return xb_reason_drops(reason) || xb_reason_answers(reason) || reason == XB_NAME_COUNTED;
}

/* Carries out a verdict as the policy says. tcp: the TLS or HTTP reason, for which there is no
 * answer; otherwise 0. */
static __always_inline int domain_settle(struct xdp_md *ctx, struct name *name, __u32 reason,
					 __u32 tcp)
{
	bool counted = reason == XB_NAME_COUNTED, watched = watch_wants();
	bool monitored = !counted && policy_now() == XB_POLICY_MONITOR;

	if (watched)
		domain_note(ctx, name);
	if (tcp && !counted)
		reason = tcp;
	if (!monitored && xb_reason_answers(reason))
		reason = answer(ctx, name, reason);
	if (watched) {
		name->told.drop.reason = reason;
		name->told.drop.monitored = monitored;
		bpf_ringbuf_output(&drops, &name->told, sizeof(name->told), 0);
	}
	return monitored ? XB_MONITORED : reason;
}

/* Whether it goes to a TLS port, to an HTTP port, to DNS, or to none of them: the reason a listed
 * name would be dropped for, XB_DNS_TCP, or 0. */
static __always_inline enum xb_reason tcp_kind(__be16 port)
{
	return ports_have(params.ports.dns, port)    ? XB_DNS_TCP
	       : ports_have(params.ports.tls, port)  ? XB_TLS_DROPPED
	       : ports_have(params.ports.http, port) ? XB_HTTP_DROPPED
						     : 0;
}

/* The name in the first data of a TCP connection. XB_NAME_CLEAN: it is cut, and name->tcp set. */
static __noinline int tcp_name(struct xdp_md *ctx, struct name *name, __u32 found)
{
	__u32 offset = name->transport.offset;
	enum xb_reason reason;
	struct tcphdr tcp;

	/* Source and destination port. */
	if (name->transport.reason != XB_CLEAN || bpf_xdp_load_bytes(ctx, offset, &tcp, 4))
		return found;
	name->tcp = tcp_kind(tcp.dest);
	if (!name->tcp)
		return found;
	if (name->tcp == XB_DNS_TCP)
		return XB_DNS_TCP;
	if (bpf_xdp_load_bytes(ctx, offset, &tcp, sizeof(tcp)) || tcp.doff * 4 < sizeof(tcp))
		return found;
	name->udp.source = tcp.source;
	name->udp.dest = tcp.dest;
	reason = hello_name(ctx, name, offset + tcp.doff * 4);
	return reason == XB_CLEAN ? found : reason;
}

static __always_inline bool is_to_dns(struct xdp_md *ctx, const struct name *name)
{
	__be16 ports[2];

	return !bpf_xdp_load_bytes(ctx, name->transport.offset, ports, sizeof(ports)) &&
	       ports_have(params.ports.dns, ports[1]);
}

/* The name of the question. XB_NAME_CLEAN: it is cut. */
static __always_inline int query_name(struct xdp_md *ctx, struct name *name)
{
	__u32 reason = query_load(ctx, name);

	if (reason != XB_NAME_CLEAN)
		return reason;
	name->tcp = 0;
	name->room = name->query.size - DNS_HEADER;
	reason = name_cut(name);
	if (reason != XB_NAME_CLEAN)
		return reason;
	name->query.end = DNS_HEADER + name->bytes + 1 + QUESTION_FIXED;
	return name->query.end > name->query.size ? XB_DNS_SHORT : XB_NAME_CLEAN;
}

/* The same, if the packet goes to DNS. */
static __always_inline int udp_name(struct xdp_md *ctx, struct name *name, __u32 found)
{
	if (name->transport.reason != XB_CLEAN)
		return name->transport.reason;
	if (!name->transport.plain && !is_to_dns(ctx, name))
		return found;
	return query_name(ctx, name);
}

/* Takes the packet apart. XB_NAME_CLEAN: there is a name, and it is cut. */
static __always_inline int domain_find(struct xdp_md *ctx, struct name *name, __u32 found)
{
	name->transport = name->ipv6 ? transport_ipv6(ctx, name->network)
				     : transport_ipv4(ctx, name->network);
	transport_skip(ctx, &name->transport);
	if (name->transport.reason == XB_DNS_HEADERS)
		return XB_DNS_HEADERS;
	if (name->transport.protocol == IPPROTO_TCP)
		return tcp_name(ctx, name, found);
	return name->transport.protocol == IPPROTO_UDP ? udp_name(ctx, name, found) : found;
}

/*
 * found: the reason by which it would pass; network: offset of the IP header. One step after the
 * other, not within each other: the stack of all calls together is 512 bytes. Not static: see
 * scope.h.
 */
__noinline int domain_apply(struct xdp_md *ctx, __u32 found, __u32 network, __u32 ipv6)
{
	struct name *name;
	__u32 reason;

	if (!params.names.blocks)
		return found;
	name = name_of_cpu();
	if (!name)
		return found;
	name->network = network;
	name->ipv6 = ipv6;
	reason = domain_find(ctx, name, found);
	if (reason != XB_NAME_CLEAN)
		return reason;
	reason = name_judge(name);
	if (reason == XB_NAME_CLEAN && name->tcp == XB_HTTP_DROPPED && name->hello.doubt)
		return XB_HTTP_AMBIGUOUS;
	if (!is_verdict(reason))
		return reason;
	topnames_count(name);
	return domain_settle(ctx, name, reason, name->tcp);
}

#endif
