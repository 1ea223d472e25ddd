/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a source that is listed, and under allow-only of one that is not. */
#ifndef XDP_BLOOM_POLICY_H
#define XDP_BLOOM_POLICY_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>
#include "allow.h"
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

/* reason: one that drops. What comes of it, by allowlist and policy. */
static __always_inline enum xb_reason policy_drop(struct xdp_md *ctx, const struct source *source,
						  enum xb_reason reason, __u32 now)
{
	if (allowed(source))
		return XB_ALLOWED;
	watch_tell(ctx, source, reason, now == XB_POLICY_MONITOR);
	return now == XB_POLICY_MONITOR ? XB_MONITORED : reason;
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

/*
 * What the policy makes of a look-up. A function of its own that parses once more: what it needs
 * would else fill registers and stack of packets that never come here (measured: 40 ns of a clean
 * one at 10M hosts, which waits for memory and has fewer look-ups under way).
 */
static __noinline int policy_apply(struct xdp_md *ctx, __u32 found)
{
	struct source source = parse_source(ctx);
	enum xb_reason reason = found;
	__u32 now = policy_now();

	if (now != XB_POLICY_ALLOW_ONLY)
		return xb_reason_drops(reason) ? policy_drop(ctx, &source, reason, now) : reason;
	if (xb_reason_drops(reason))
		return XB_ADMITTED;
	if (source.family == SOURCE_NONE)
		return reason;
	if (is_neighbour_discovery(ctx, &source))
		return XB_NEIGHBOUR;
	return policy_drop(ctx, &source, XB_NOT_ADMITTED, now);
}

#endif
