/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds messages of DHCP servers to a client. Before the first lease nobody can have allowed the
 * server. A message passes only if it comes from the link itself, or from a sender who knows the
 * MAC address of the client. */
#ifndef XDP_BLOOM_DHCP_H
#define XDP_BLOOM_DHCP_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "parse.h"

/* RFC 2131, section 2, as far as the address of the client. */
struct dhcp4_head {
	struct iphdr ip;
	struct udphdr udp;
	__u8 op, hardware, hardware_bytes, hops;
	__be32 transaction;
	__be16 seconds, flags;
	__be32 client, yours, server, relay;
	__u16 mac[ETH_ALEN / 2];
} __attribute__((packed));

#define BOOTREPLY 2

static __always_inline bool ports_are(const void *ports, __u16 source, __u16 destination)
{
	return *(const __be16 *)ports == bpf_htons(source) &&
	       *(const __be16 *)(ports + 2) == bpf_htons(destination);
}

/* Compares the ports by direct access. For most packets this decides. */
static __always_inline bool has_dhcp_ports(struct xdp_md *ctx, const struct source *source)
{
	void *ip = (void *)(long)ctx->data + (source->network & 63);
	void *end = (void *)(long)ctx->data_end;

	if (source->family == SOURCE_IPV6)
		return ip + sizeof(struct ipv6hdr) + 4 <= end &&
		       ((struct ipv6hdr *)ip)->nexthdr == IPPROTO_UDP &&
		       ports_are(ip + sizeof(struct ipv6hdr), 547, 546);
	return ip + sizeof(struct iphdr) + 4 <= end && *(__u8 *)ip == 0x45 &&
	       ((struct iphdr *)ip)->protocol == IPPROTO_UDP &&
	       ports_are(ip + sizeof(struct iphdr), 67, 68);
}

/* An offer or an acknowledgement, to the MAC address it is meant for or to the whole link. */
static __always_inline bool is_dhcp4(struct xdp_md *ctx, __u32 network)
{
	struct dhcp4_head head;
	__u16 to[ETH_ALEN / 2];

	if (network < ETH_HLEN || bpf_xdp_load_bytes(ctx, 0, to, sizeof(to)) ||
	    bpf_xdp_load_bytes(ctx, network, &head, sizeof(head)))
		return false;
	if (head.ip.frag_off & bpf_htons(0x3fff) || head.op != BOOTREPLY || head.hardware != 1 ||
	    head.hardware_bytes != ETH_ALEN)
		return false;
	if (to[0] == head.mac[0] && to[1] == head.mac[1] && to[2] == head.mac[2])
		return true;
	return head.ip.daddr == (__be32)~0U && (to[0] & to[1] & to[2]) == 0xffff;
}

/* From one link-local address to another (RFC 8415): no router passes that on. */
static __always_inline bool is_dhcp6(struct xdp_md *ctx, const struct source *source)
{
	__be16 to = 0;

	return source->hi >> 54 == 0xfe80 >> 6 &&
	       !bpf_xdp_load_bytes(ctx, source->network + offsetof(struct ipv6hdr, daddr), &to,
				   sizeof(to)) &&
	       (to & bpf_htons(0xffc0)) == bpf_htons(0xfe80);
}

static __always_inline bool is_dhcp(struct xdp_md *ctx, const struct source *source)
{
	if (!has_dhcp_ports(ctx, source))
		return false;
	return source->family == SOURCE_IPV6 ? is_dhcp6(ctx, source)
					     : is_dhcp4(ctx, source->network);
}

#endif
