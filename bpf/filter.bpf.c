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
	switch (source->family) {
	case SOURCE_IPV4:
		if (params.prefix4 && prefix4_listed(source->ipv4))
			return XB_LISTED_IPV4_PREFIX;
		if (params.host4.blocks)
			return host4_judge(source->ipv4, at_gate);
		return XB_CLEAN;
	case SOURCE_IPV6:
		if (params.net6.blocks)
			return net6_judge(source->hi, source->lo);
		return XB_CLEAN;
	case SOURCE_NONE:
		break;
	}
	return source->reason;
}

SEC("xdp")
int xdp_bloom_filter(struct xdp_md *ctx)
{
	struct source source = parse_source(ctx);
	bool at_gate = true;
	enum xb_reason reason = judge(&source, &at_gate);

	if (params.allow_only || xb_reason_drops(reason))
		reason = policy_apply(ctx, reason, at_gate);
	/* What is only monitored for its source would not have come as far as its name. */
	if (params.names.blocks && !xb_reason_drops(reason) && reason != XB_MONITORED &&
	    may_carry_name(ctx, &source))
		reason = domain_apply(ctx, reason, source.network, source.family == SOURCE_IPV6);
	return account(ctx, reason, source.claimed);
}

char _license[] SEC("license") = "GPL";
