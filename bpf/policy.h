/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applies the policy to a source that is listed, and under allow-only to one that is not. */
#ifndef XDP_BLOOM_POLICY_H
#define XDP_BLOOM_POLICY_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>
#include "allow.h"
#include "dhcp.h"
#include "known.h"
#include "params.h"
#include "parse.h"
#include "watch.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} policy SEC(".maps");

static __always_inline __u32 policy_now(void)
{
	__u32 first = 0;
	__u32 *now = bpf_map_lookup_elem(&policy, &first);

	return now ? *now : XB_POLICY_ENFORCE;
}

/* Types 133 to 137 that did not cross a router (RFC 4861, section 6.1 and 7.1: hop limit 255). */
static __always_inline bool is_neighbour_discovery(struct xdp_md *ctx, const struct source *source)
{
	struct {
		struct ipv6hdr ip;
		__u8 type;
	} __attribute__((packed)) head;

	if (source->family != SOURCE_IPV6 ||
	    bpf_xdp_load_bytes(ctx, source->network, &head, sizeof(head)))
		return false;
	return head.ip.nexthdr == IPPROTO_ICMPV6 && head.ip.hop_limit == 255 && head.type >= 133 &&
	       head.type <= 137;
}

/* Whether the source is on the allowlist. */
static __noinline int is_allowed(struct xdp_md *ctx, __u32 network, __u32 ipv6)
{
	struct source source = source_at(ctx, network, ipv6);

	return allowed(&source);
}

/* Judges a source that is not listed, under allow-only. */
static __noinline int not_admitted(struct xdp_md *ctx, __u32 found, __u32 network, __u32 ipv6)
{
	struct source source = source_at(ctx, network, ipv6);

	if (source.family == SOURCE_NONE)
		return found;
	if (is_neighbour_discovery(ctx, &source))
		return XB_NEIGHBOUR;
	if (allowed(&source))
		return XB_ALLOWED;
	if (params.admits_known && known_has(ipv6 ? source.hi : source.ipv4, ipv6))
		return XB_ADMITTED_KNOWN;
	return is_dhcp(ctx, &source) ? XB_DHCP : XB_NOT_ADMITTED;
}

/*
 * Turns the reason of a look-up into that of the policy. at_gate: the allowlist may have the
 * source. This is inlined, because mitigations make the return of a function expensive
 * (docs/design.md, Choices). Rare steps that need the source are functions of their own, and read
 * it again.
 */
static __always_inline int policy_apply(struct xdp_md *ctx, const struct source *source,
					__u32 found, __u32 at_gate)
{
	__u32 network = source->network, ipv6 = source->family == SOURCE_IPV6;
	enum xb_reason reason = found;
	__u32 now = policy_now();

	if (now == XB_POLICY_ALLOW_ONLY) {
		if (xb_reason_drops(reason))
			return XB_ADMITTED;
		reason = not_admitted(ctx, reason, network, ipv6);
	} else if (xb_reason_drops(reason) && at_gate && is_allowed(ctx, network, ipv6)) {
		reason = XB_ALLOWED;
	}
	if (!xb_reason_drops(reason))
		return reason;
	watch_tell(ctx, network, ipv6, reason, now == XB_POLICY_MONITOR);
	return now == XB_POLICY_MONITOR ? XB_MONITORED : reason;
}

#endif
