/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a generation: is the source listed, or the domain it asks for? */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "parse.h"
#include "params.h"
#include "host4.h"
#include "prefix4.h"
#include "net6.h"
#include "policy.h"
#include "domain.h"
#include "account.h"

static __always_inline enum xb_reason judge(const struct source *source, bool *at_gate)
{
	if (source->family == SOURCE_IPV6)
		return params.net6.blocks ? net6_judge(source->hi, source->lo) : XB_CLEAN;
	if (params.prefix4 && prefix4_listed(source->ipv4))
		return XB_LISTED_IPV4_PREFIX;
	return params.host4.blocks ? host4_judge(source->ipv4, at_gate) : XB_CLEAN;
}

SEC("xdp")
int xdp_bloom_filter(struct xdp_md *ctx)
{
	struct source source = parse_source(ctx);
	enum xb_reason reason;
	bool at_gate = true;

	if (source.family == SOURCE_NONE)
		return account(ctx, source.reason, 0);
	reason = judge(&source, &at_gate);
	/* By itself, so that what most packets come to has no test of the reason on its way. */
	if (reason == XB_CLEAN && !params.allow_only && !params.names.blocks)
		return account(ctx, XB_CLEAN, source.claimed);
	if (params.allow_only || xb_reason_drops(reason))
		reason = policy_apply(ctx, &source, reason, at_gate);
	/* What is only monitored for its source would not have come as far as its name. */
	if (params.names.blocks && !xb_reason_drops(reason) && reason != XB_MONITORED &&
	    may_carry_name(ctx, &source))
		reason = domain_apply(ctx, reason, source.network, source.family == SOURCE_IPV6);
	return account(ctx, reason, source.claimed);
}

char _license[] SEC("license") = "GPL";
