/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 addresses (and prefixes longer than /24, expanded): one Bloom block. */
#ifndef XDP_BLOOM_HOST4_H
#define XDP_BLOOM_HOST4_H

#include "bloom.h"
#include "confirm.h"

struct bloom_map host4 SEC(".maps");

/* Calls, for the registers' sake: see policy_apply(). hash: of the address, host byte order. */
static __noinline int confirm_host4(__u64 hash, __u32 address)
{
	struct xb_key key = params_key();

	if (!address)
		return confirm_unspecified();
	return !!confirm_find(&confirm4, &params.confirm4, &key, hash, SLOTS_ADDRESS, address);
}

/* address: host byte order. */
static __always_inline enum xb_reason host4_judge(__u32 address)
{
	struct xb_key key = params_key();
	__u64 hash = xb_hash_ipv4(&key, address);

	if (!bloom_contains(&host4, &params.host4, &key, hash))
		return XB_CLEAN;
	if (params.confirm && !confirm_host4(hash, address))
		return XB_UNCONFIRMED;
	return XB_LISTED_IPV4_HOST;
}

#endif
