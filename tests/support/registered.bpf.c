// SPDX-License-Identifier: GPL-2.0-or-later
/* The filter program as it ships, and beside it one that tells what it takes for the registered
 * name of a query. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "filter.bpf.c" /* NOLINT(bugprone-suspicious-include): the same */

#define NETWORK 14 /* behind no tags */

__u64 registered_hash;
__u32 ipv6;

SEC("xdp")
int tell_registered(struct xdp_md *ctx)
{
	registered_hash = registered_name(ctx, NETWORK, ipv6);
	return XDP_PASS;
}
