/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a packet for the name it carries: the stage behind the one for sources. */
#ifndef XDP_BLOOM_DOMAIN_H
#define XDP_BLOOM_DOMAIN_H

#include "answer.h"
#include "name.h"
#include "policy.h"
#include "query.h"
#include "watch.h"

/* The whole of UDP header and message that can matter, in the name. XB_NAME_CLEAN: it is a query
 * with one question, of which the name is not looked at yet. */
static __always_inline enum xb_reason query_load(struct xdp_md *ctx,
						 const struct transport *transport,
						 struct name *name, struct query *query)
{
	const __u8 *message = name->message;
	__u32 bytes = transport->end - transport->offset, length;

	if (transport->end > transport->offset + 65535 || transport->end <= transport->offset)
		return XB_DNS_SHORT;
	if (bytes < sizeof(struct udphdr) + DNS_HEADER)
		return XB_DNS_SHORT;
	if (bytes > sizeof(struct udphdr) + MESSAGE_BYTES)
		bytes = sizeof(struct udphdr) + MESSAGE_BYTES;
	if (bpf_xdp_load_bytes(ctx, transport->offset, &name->udp, bytes))
		return XB_DNS_SHORT;
	length = bpf_ntohs(name->udp.len);
	/* RFC 2675, section 4: all of the packet; hosts take it for that in any packet. */
	if (!length && query->ipv6)
		length = transport->end - transport->offset;
	if (length < sizeof(struct udphdr) + DNS_HEADER ||
	    length > transport->end - transport->offset)
		return XB_DNS_SHORT;
	query->message = transport->offset + (__u32)sizeof(struct udphdr);
	query->size = length - (__u32)sizeof(struct udphdr);
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

/* Of a listed name, what its verdict and the policy make of it. */
static __always_inline enum xb_reason domain_settle(struct xdp_md *ctx, const struct query *query,
						    __u32 verdict)
{
	enum xb_reason reason =
		verdict < XB_DOMAIN_VERDICTS ? XB_NAME_DROPPED + verdict : XB_NAME_DROPPED;

	if (reason == XB_NAME_COUNTED)
		return reason;
	if (policy_now() == XB_POLICY_MONITOR)
		return XB_MONITORED;
	return xb_reason_answers(reason) ? answer(ctx, query, reason) : reason;
}

static __always_inline bool is_to_dns(struct xdp_md *ctx, const struct transport *transport)
{
	__be16 ports[2];

	return !bpf_xdp_load_bytes(ctx, transport->offset, ports, sizeof(ports)) &&
	       ports_have(params.ports.dns, ports[1]);
}

static __always_inline enum xb_reason tcp_apply(struct xdp_md *ctx,
						const struct transport *transport, __u32 found)
{
	return is_to_dns(ctx, transport) ? XB_DNS_TCP : found;
}

/* found: the reason by which it would pass. */
static __noinline int domain_apply(struct xdp_md *ctx, __u32 found)
{
	struct source source = parse_source(ctx);
	struct name *name = name_of_cpu();
	__u32 zero = 0;
	struct xb_depths *depths = bpf_map_lookup_elem(&name_depths, &zero);
	struct transport transport;
	struct query query = {.network = source.network, .ipv6 = source.family == SOURCE_IPV6};
	enum xb_reason reason;

	if (!name || !depths || source.family == SOURCE_NONE)
		return found;
	transport = query.ipv6 ? transport_ipv6(ctx, source.network)
			       : transport_ipv4(ctx, source.network);
	if (transport.reason == XB_DNS_HEADERS)
		return XB_DNS_HEADERS;
	if (transport.protocol == IPPROTO_TCP)
		return tcp_apply(ctx, &transport, found);
	if (transport.protocol != IPPROTO_UDP)
		return found;
	if (transport.reason != XB_CLEAN)
		return transport.reason;
	if (!transport.plain && !is_to_dns(ctx, &transport))
		return found;
	reason = query_load(ctx, &transport, name, &query);
	if (reason != XB_NAME_CLEAN)
		return reason;
	name->room = query.size - DNS_HEADER;
	reason = name_cut(name);
	if (reason != XB_NAME_CLEAN)
		return reason;
	query.end = DNS_HEADER + name->bytes + 1 + QUESTION_FIXED;
	if (query.end > query.size)
		return XB_DNS_SHORT;
	if (name_listed(name, depths) >= XB_DOMAIN_VERDICTS)
		return XB_NAME_CLEAN;
	if (depths->allowed && name_allowed(name, depths->allowed))
		return XB_NAME_ALLOWED;
	return domain_settle(ctx, &query, name->verdict);
}

#endif
