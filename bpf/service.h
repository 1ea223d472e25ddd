/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet asks for: which classes, or which limits, have its destination port. */
#ifndef XDP_BLOOM_SERVICE_H
#define XDP_BLOOM_SERVICE_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bits.h"
#include "params.h"
#include "parse.h"
#include "transport.h"

#define IPV4_OFFSET 0x1fff /* of a fragment */

/* What is found: classes as bits, and the reason of the verdict, or why it cannot say. Two in one
 * word, because functions return one. */
#define SCOPE_FOUND(classes, reason) ((classes) << 8 | (reason))
#define SCOPE_CLASSES(found)	     ((found) >> 8)
#define SCOPE_REASON(found)	     ((enum xb_reason)((found)&0xff))

struct word_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

/* Of the parameters; and the map with the classes of each port. */
struct services {
	const volatile struct xb_scopes *of;
	void *ports;
};

/* The classes that have packets of this protocol, if any port is of one. */
static __always_inline __u32 service_any_port(struct services services, __u8 protocol)
{
	return protocol == IPPROTO_TCP	 ? services.of->tcp
	       : protocol == IPPROTO_UDP ? services.of->udp
					 : 0;
}

/* Whether a destination port of TCP or UDP, as it stands in the packet, can be of any class: its
 * second byte has the last bits. */
static __always_inline bool service_may_have(struct services services, __u8 protocol,
					     const __be16 *port)
{
	__u64 ports = protocol == IPPROTO_TCP ? services.of->tcp_ports : services.of->udp_ports;

	return shifted(ports, ((const __u8 *)port)[1]) & 1;
}

/* The classes of a destination port of TCP or UDP, network byte order. */
static __always_inline __u32 service_of_port(struct services services, __u8 protocol, __be16 port)
{
	__u32 number = bpf_ntohs(port) + (protocol == IPPROTO_UDP ? XB_SCOPE_PORTS : 0);
	__u32 index = number / 4;
	__u64 *word = bpf_map_lookup_elem(services.ports, &index);

	return word ? shifted(*word, number % 4 * 16) & 0xffff : 0;
}

static __always_inline bool service_is_icmp(__u8 protocol, bool ipv6)
{
	return protocol == (ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

/* Of a fragment that is not the first: what it is a fragment of; otherwise 0. */
static __always_inline __u8 service_later(struct xdp_md *ctx, __u32 network, __u32 ipv6,
					  const struct transport *transport)
{
	struct cursor cursor = cursor_at(ctx, network);
	struct iphdr *ip;

	if (ipv6)
		return transport->later;
	ip = cursor_take(&cursor, sizeof(*ip));
	return ip && ip->frag_off & bpf_htons(IPV4_OFFSET) ? ip->protocol : 0;
}

/* Behind options or extension headers, in a fragment, or beyond the first buffer. The reason, if
 * not 0, is why there is no port. */
static __always_inline __u32 service_far(struct xdp_md *ctx, __u32 network, __u32 ipv6,
					 struct services services)
{
	struct transport transport =
		ipv6 ? transport_ipv6(ctx, network) : transport_ipv4(ctx, network);
	__be16 ports[2];
	__u8 later;

	/* IPv4 has none, whatever its protocols are numbered. */
	if (ipv6)
		transport_skip(ctx, &transport);
	later = service_later(ctx, network, ipv6, &transport);
	if (service_is_icmp(later ? later : transport.protocol, ipv6))
		return SCOPE_FOUND(services.of->icmp, 0);
	if (later)
		return SCOPE_FOUND(0, service_any_port(services, later) ? XB_SCOPED_FRAGMENT : 0);
	if (transport.reason == XB_DNS_HEADERS)
		return SCOPE_FOUND(0, XB_SCOPED_HEADERS);
	if (transport.reason == XB_DNS_SHORT)
		return SCOPE_FOUND(0, XB_SCOPED_SHORT);
	if (!service_any_port(services, transport.protocol))
		return 0;
	if (bpf_xdp_load_bytes(ctx, transport.offset, ports, sizeof(ports)))
		return SCOPE_FOUND(0, XB_SCOPED_SHORT);
	return SCOPE_FOUND(service_of_port(services, transport.protocol, ports[1]), 0);
}

/* Of the first 8 bytes of an IPv4 header, network byte order: its length, and what says that it is
 * a fragment. */
#define IPV4_SHAPE 0x0f00000000003fffULL
#define IPV4_PLAIN 0x0500000000000000ULL

struct ports {
	__be16 source, destination;
};

/* service_far(), by a call. */
typedef int far_function(struct xdp_md *ctx, __u32 network, __u32 six);

/* Of a plain packet. port: the destination port, if its protocol has one. */
static __always_inline __u32 service_near(struct xdp_md *ctx, const struct source *source,
					  __u8 protocol, __be16 *port, struct services services,
					  far_function far)
{
	bool ipv6 = source->family == SOURCE_IPV6;
	__u32 all = services.of->all;

	if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP)
		return service_may_have(services, protocol, port)
			       ? SCOPE_FOUND(service_of_port(services, protocol, *port) | all, 0)
			       : 0;
	if (ipv6 && is_extension(protocol))
		return far(ctx, source->network, ipv6);
	return SCOPE_FOUND(service_is_icmp(protocol, ipv6) ? services.of->icmp | all : all, 0);
}

/* The classes that have the packet, in the form of service_far(), which also judges what is too
 * short for ports. Each family by itself, so that nothing is kept for the other one. */
static __always_inline __u32 service_classes(struct xdp_md *ctx, const struct source *source,
					     struct services services, far_function far)
{
	struct cursor cursor = cursor_at(ctx, source->network);

	if (source->family == SOURCE_IPV4) {
		struct {
			struct iphdr ip;
			struct ports ports;
		} *head = cursor_take(&cursor, sizeof(*head));

		if (!head || (*(__be64 *)(void *)head & bpf_cpu_to_be64(IPV4_SHAPE)) !=
				     bpf_cpu_to_be64(IPV4_PLAIN))
			return far(ctx, source->network, false);
		return service_near(ctx, source, head->ip.protocol, &head->ports.destination,
				    services, far);
	} else {
		struct {
			struct ipv6hdr ip;
			struct ports ports;
		} *head = cursor_take(&cursor, sizeof(*head));

		return head ? service_near(ctx, source, head->ip.nexthdr, &head->ports.destination,
					   services, far)
			    : far(ctx, source->network, true);
	}
}

#endif
