/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registered name that a query asks for, a public suffix and one label more; and queries over a
 * limit, which are answered from themselves. */
#ifndef XDP_BLOOM_REGISTERED_H
#define XDP_BLOOM_REGISTERED_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>
#include "answer.h"
#include "domain.h"
#include "exact.h"
#include "name.h"
#include "params.h"
#include "policy.h"
#include "transport.h"
#include "watch.h"

struct bucket_map suffixes SEC(".maps");

/* What the table says of a suffix: bits of enum xb_suffix; 0: it does not have it. hash: never 0.
 */
static __always_inline __u32 suffix_find(__u64 hash)
{
	struct xb_key key = params_key();
	struct xb_choices choices =
		xb_choices_of(&key, hash, params.suffixes.parts, params.suffixes.size);
	const struct xb_spot spot[2] = {{hash, choices.first}, {hash, choices.second}};

	return buckets_find(&suffixes, &params.suffixes, spot, SLOTS_NAME) >> XB_DOMAIN_SHIFT;
}

/* What the table says of the suffix with this hash, which is as deep as name->depth. */
static __always_inline void registered_judge(struct name *name, __u64 hash)
{
	__u32 depth = name->depth, said = suffix_find(hash);

	if (said & XB_SUFFIX_EXCEPTED) {
		name->registered = (struct registered){.hash = hash, .suffix = depth - 1};
		return;
	}
	name->registered.deeper = said & XB_SUFFIX_DEEPER;
	if (said & XB_SUFFIX_PLAIN)
		name->registered.suffix = depth;
	if (said & XB_SUFFIX_WILDCARD)
		name->registered.suffix = depth + 1;
	if (name->registered.suffix >= depth)
		name->registered.hash = 0;
}

/* One label more, from the last on. 1: what is registered is known. */
static long registered_next(__u32 round __attribute__((unused)), void *data)
{
	struct name *name = *(struct name **)data;
	__u64 hash;

	if (name->depth >= name->labels)
		return 1;
	name_take_label(name);
	hash = xb_fingerprint(name_hash(name, 0));
	if (name->depth == name->registered.suffix + 1)
		name->registered.hash = hash;
	if (name->registered.deeper)
		registered_judge(name, hash);
	return !name->registered.deeper && name->depth > name->registered.suffix;
}

/* The query in a packet. False: there is none, or not of one whole name. */
static __always_inline bool query_find(struct xdp_md *ctx, struct name *name, __u32 network,
				       __u32 ipv6)
{
	name->network = network;
	name->ipv6 = ipv6;
	name->transport = ipv6 ? transport_ipv6(ctx, network) : transport_ipv4(ctx, network);
	transport_skip(ctx, &name->transport);
	return name->transport.protocol == IPPROTO_UDP && name->transport.reason == XB_CLEAN &&
	       query_name(ctx, name) == XB_NAME_CLEAN;
}

/*
 * The hash of the registered name that a query asks for; 0: there is no query, or its name has no
 * more than a public suffix. A top-level domain that no rule is about is one. Not static: see
 * scope.h.
 */
__noinline __u64 registered_name(struct xdp_md *ctx, __u32 network, __u32 ipv6)
{
	struct name *name;

	if (!params.suffixes.parts)
		return 0;
	name = name_of_cpu();
	if (!name || !query_find(ctx, name, network, ipv6))
		return 0;
	name->registered = (struct registered){.suffix = 1, .deeper = 1};
	name_rewind(name);
	bpf_loop(XB_NAME_LABELS, registered_next, &name, 0);
	return name->registered.hash;
}

/* Whether the query was turned into an answer that it has to be asked for by TCP. */
static __always_inline bool is_truncated(struct xdp_md *ctx, struct name *name)
{
	return answer(ctx, name, XB_NAME_TRUNCATED) == XB_NAME_TRUNCATED;
}

/*
 * Answers a query that is over this limit, as the policy says. Returns XB_OVER_TRUNCATED,
 * XB_MONITORED, or XB_LIMITED: it cannot be answered, or the limit of answers is reached.
 */
__noinline int limit_truncate(struct xdp_md *ctx, __u32 network, __u32 ipv6, __u32 limit)
{
	bool monitors, watched;
	struct name *name;
	__u32 reason;

	if (!params.limits.truncates)
		return XB_LIMITED;
	name = name_of_cpu();
	if (!name)
		return XB_LIMITED;
	monitors = policy_now() == XB_POLICY_MONITOR;
	if (!query_find(ctx, name, network, ipv6)) {
		watch_tell(ctx, network, ipv6, XB_LIMITED | limit << 8, monitors);
		return monitors ? XB_MONITORED : XB_LIMITED;
	}
	watched = watch_wants();
	if (watched)
		domain_note(ctx, name);
	reason = monitors || is_truncated(ctx, name) ? XB_OVER_TRUNCATED : XB_LIMITED;
	if (watched) {
		name->told.drop.reason = reason;
		name->told.drop.limit = limit;
		name->told.drop.monitored = monitors;
		bpf_ringbuf_output(&drops, &name->told, sizeof(name->told), 0);
	}
	return monitors ? XB_MONITORED : reason;
}

#endif
