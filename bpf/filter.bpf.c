/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a generation: is the source listed, for all services or the one it asks for, or
 * the domain that it asks for? */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "parse.h"
#include "params.h"
#include "host4.h"
#include "prefix4.h"
#include "prefix6.h"
#include "net6.h"
#include "policy.h"
#include "scope.h"
#include "limit.h"
#include "domain.h"
#include "account.h"

static __always_inline enum xb_reason judge_ipv6(const struct source *source, bool *at_gate)
{
	if (params.prefix6_pages && prefix6_listed(source->hi)) {
		*at_gate = gate_open_ipv6(source->hi);
		return XB_LISTED_IPV6;
	}
	return params.net6.blocks ? net6_judge(source->hi, source->lo, at_gate) : XB_CLEAN;
}

static __always_inline enum xb_reason judge(const struct source *source, bool *at_gate)
{
	if (source->family == SOURCE_IPV6)
		return judge_ipv6(source, at_gate);
	if (params.prefix4 && prefix4_listed(source->ipv4))
		return XB_LISTED_IPV4_PREFIX;
	return params.host4.blocks ? host4_judge(source->ipv4, at_gate) : XB_CLEAN;
}

/* A packet that counts under enforce and monitor would not be dropped if its source is allowed. */
static __always_inline enum xb_reason counted(struct xdp_md *ctx, const struct source *source)
{
	return is_allowed(ctx, source->network, source->family == SOURCE_IPV6) ? XB_ALLOWED
									       : XB_SCOPED_COUNTED;
}

/* Whether the class that the packet met made a difference. */
static __always_inline bool is_of_class(enum xb_reason reason)
{
	return reason == XB_SCOPED_DROPPED || reason == XB_SCOPED_COUNTED ||
	       reason == XB_MONITORED || reason == XB_ADMITTED;
}

/* What passes may be over a limit, unless the policy or the allowlist lets it pass. */
static __always_inline bool may_be_limited(enum xb_reason reason)
{
	return !xb_reason_drops(reason) && reason != XB_ALLOWED && reason != XB_MONITORED &&
	       reason != XB_NEIGHBOUR && reason != XB_DHCP;
}

/* The one of these limits that decides: one that drops before one that answers, and that before one
 * that counts. */
static __always_inline __u32 limit_strictest(__u32 over)
{
	__u32 strict = over & params.limits.of.drops, answered = over & params.limits.truncates;

	return lowest_bit(strict ? strict : answered ? answered : over);
}

/* Applies the limits that the packet is over, bits of which at least one is set. */
static __always_inline enum xb_reason limited(struct xdp_md *ctx, const struct source *source,
					      __u32 over)
{
	__u32 limit = limit_strictest(over), ipv6 = source->family == SOURCE_IPV6;
	bool at_gate = ipv6 ? gate_open_ipv6(source->hi) : gate_open_ipv4(source->ipv4);
	bool monitors;

	if (at_gate && is_allowed(ctx, source->network, ipv6))
		return XB_ALLOWED;
	class_count(XB_CLASSES + limit, frame_length(ctx, source->claimed));
	if (over & params.limits.lists)
		offender_report(ctx, source->network, ipv6, over & params.limits.lists);
	if (limit_is_of(params.limits.truncates, limit))
		return limit_truncate(ctx, source->network, ipv6, limit);
	if (!limit_is_of(params.limits.of.drops, limit))
		return XB_OVER_COUNTED;
	monitors = policy_now() == XB_POLICY_MONITOR;
	watch_tell(ctx, source->network, ipv6, XB_LIMITED | limit << 8, monitors);
	return monitors ? XB_MONITORED : XB_LIMITED;
}

SEC("xdp")
int xdp_bloom_filter(struct xdp_md *ctx)
{
	struct source source = parse_source(ctx);
	enum xb_reason reason;
	bool at_gate = true;
	__u32 class = 0, asked = 0;

	if (source.family == SOURCE_NONE)
		return account(ctx, source.reason, 0);
	reason = judge(&source, &at_gate);
	if (params.scoped.blocks && !xb_reason_drops(reason)) {
		reason = scope_judge(ctx, &source, reason, &class);
		/* A look at host4 that found nothing did not look at the gate either. */
		at_gate = true;
	}
	if (params.limits.lines && (params.allow_only || !xb_reason_drops(reason)))
		asked = limit_asked(ctx, &source);
	/* By itself, so that what most packets come to has no test of the reason on its way. */
	if (reason == XB_CLEAN && !params.allow_only && !params.names.blocks && !asked)
		return account(ctx, XB_CLEAN, source.claimed);
	if (params.allow_only || xb_reason_drops(reason))
		reason = policy_apply(ctx, &source, reason, at_gate);
	else if (params.scoped.blocks && reason == XB_SCOPED_COUNTED)
		reason = counted(ctx, &source);
	if (params.scoped.blocks && class && is_of_class(reason))
		class_count(lowest_bit(class), frame_length(ctx, source.claimed));
	if (asked && may_be_limited(reason)) {
		__u32 over = limit_all(ctx, &source, asked);

		if (over)
			reason = limited(ctx, &source, over);
	}
	/* The frame is an answer by now. */
	if (params.limits.truncates && reason == XB_OVER_TRUNCATED)
		return account(ctx, XB_OVER_TRUNCATED, source.claimed);
	/* What is only monitored for its source would not have come as far as its name. */
	if (params.names.blocks && !xb_reason_drops(reason) && reason != XB_MONITORED &&
	    may_carry_name(ctx, &source))
		reason = domain_apply(ctx, reason, source.network, source.family == SOURCE_IPV6);
	return account(ctx, reason, source.claimed);
}

char _license[] SEC("license") = "GPL";
