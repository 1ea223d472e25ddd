/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a packet for the name it carries: the stage behind the one for sources. */
#ifndef XDP_BLOOM_DOMAIN_H
#define XDP_BLOOM_DOMAIN_H

#include "answer.h"
#include "hello.h"
#include "name.h"
#include "policy.h"
#include "query.h"
#include "watch.h"

/* UDP header and message, as far as they can matter, in the scratch. XB_NAME_CLEAN: it is a query
 * with one question, of which the name is not looked at yet. */
static __always_inline enum xb_reason query_load(struct xdp_md *ctx, struct name *name)
{
	__u32 offset = name->transport.offset, room = name->transport.end - offset;
	const __u8 *message = name->message;
	__u32 bytes = room, length;

	if (room > 0xffff || room < sizeof(struct udphdr) + DNS_HEADER)
		return XB_DNS_SHORT;
	if (bytes > sizeof(struct udphdr) + MESSAGE_BYTES)
		bytes = sizeof(struct udphdr) + MESSAGE_BYTES;
	if (bpf_xdp_load_bytes(ctx, offset, &name->udp, bytes))
		return XB_DNS_SHORT;
	length = bpf_ntohs(name->udp.len);
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

/* The ports are those of the packet as it came; an answer has turned them round. */
static __noinline int domain_send(struct xdp_md *ctx, struct name *name, __u32 reason, __u32 ports)
{
	struct xb_name_drop *told = &name->told;

	told->drop = watch_begin(ctx, &name->source, reason & 0xff, reason >> 8);
	told->drop.protocol = name->transport.protocol;
	told->drop.sport = ports & 0xffff;
	told->drop.dport = ports >> 16;
	told->drop.name_bytes = name->bytes;
	__builtin_memcpy(told->name, &name->message[DNS_HEADER], sizeof(told->name));
	return bpf_ringbuf_output(&drops, told, sizeof(*told), 0);
}

/* Of a name that is in the scratch and cut: XB_NAME_CLEAN, XB_NAME_ALLOWED, or the reason of its
 * verdict. */
static __noinline int name_judge(struct name *name)
{
	__u32 zero = 0;
	struct xb_depths *depths = bpf_map_lookup_elem(&name_depths, &zero);

	if (!depths || name_listed(name, depths) >= XB_DOMAIN_VERDICTS)
		return XB_NAME_CLEAN;
	if (depths->allowed && name_allowed(name, depths->allowed))
		return XB_NAME_ALLOWED;
	return reason_of(name->verdict);
}

/* Whether the name is one that a verdict was found for. */
static __always_inline bool is_verdict(enum xb_reason reason)
{
	return xb_reason_drops(reason) || xb_reason_answers(reason) || reason == XB_NAME_COUNTED;
}

/* What comes of a verdict by the policy. */
static __always_inline enum xb_reason domain_settle(struct xdp_md *ctx, struct name *name,
						    enum xb_reason reason)
{
	__u32 ports = name->udp.source | (__u32)name->udp.dest << 16;
	bool monitored = reason != XB_NAME_COUNTED && policy_now() == XB_POLICY_MONITOR;

	if (!monitored && xb_reason_answers(reason))
		reason = answer(ctx, name, reason);
	if (watch_wants())
		domain_send(ctx, name, reason | monitored << 8, ports);
	return monitored ? XB_MONITORED : reason;
}

/* The first data of a TCP connection, if it has a name; nothing is answered. */
static __noinline int tcp_apply(struct xdp_md *ctx, struct name *name, __u32 found)
{
	struct tcphdr tcp;
	__u32 reason;
	bool tls;

	if (name->transport.reason != XB_CLEAN ||
	    bpf_xdp_load_bytes(ctx, name->transport.offset, &tcp, sizeof(tcp)))
		return found;
	if (ports_have(params.ports.dns, tcp.dest))
		return XB_DNS_TCP;
	tls = ports_have(params.ports.tls, tcp.dest);
	if (!tls && !ports_have(params.ports.http, tcp.dest))
		return found;
	name->udp.source = tcp.source;
	name->udp.dest = tcp.dest;
	reason = hello_name(ctx, name, name->transport.offset + tcp.doff * 4);
	if (reason == XB_CLEAN)
		return found;
	if (reason == XB_NAME_CLEAN)
		reason = name_judge(name);
	if (!is_verdict(reason))
		return reason;
	if (reason != XB_NAME_COUNTED)
		reason = tls ? XB_TLS_DROPPED : XB_HTTP_DROPPED;
	return domain_settle(ctx, name, reason);
}

static __always_inline bool is_to_dns(struct xdp_md *ctx, const struct name *name)
{
	__be16 ports[2];

	return !bpf_xdp_load_bytes(ctx, name->transport.offset, ports, sizeof(ports)) &&
	       ports_have(params.ports.dns, ports[1]);
}

static __noinline int udp_apply(struct xdp_md *ctx, struct name *name, __u32 found)
{
	__u32 reason;

	if (name->transport.reason != XB_CLEAN)
		return name->transport.reason;
	if (!name->transport.plain && !is_to_dns(ctx, name))
		return found;
	reason = query_load(ctx, name);
	if (reason != XB_NAME_CLEAN)
		return reason;
	name->room = name->query.size - DNS_HEADER;
	reason = name_cut(name);
	if (reason != XB_NAME_CLEAN)
		return reason;
	name->query.end = DNS_HEADER + name->bytes + 1 + QUESTION_FIXED;
	if (name->query.end > name->query.size)
		return XB_DNS_SHORT;
	reason = name_judge(name);
	return is_verdict(reason) ? domain_settle(ctx, name, reason) : reason;
}

/* found: the reason by which it would pass. */
static __noinline int domain_apply(struct xdp_md *ctx, __u32 found)
{
	struct name *name = name_of_cpu();

	if (!name)
		return found;
	name->source = parse_source(ctx);
	if (name->source.family == SOURCE_NONE)
		return found;
	name->transport = name->source.family == SOURCE_IPV6
				  ? transport_ipv6(ctx, name->source.network)
				  : transport_ipv4(ctx, name->source.network);
	if (name->transport.reason == XB_DNS_HEADERS)
		return XB_DNS_HEADERS;
	if (name->transport.protocol == IPPROTO_TCP)
		return tcp_apply(ctx, name, found);
	return name->transport.protocol == IPPROTO_UDP ? udp_apply(ctx, name, found) : found;
}

#endif
