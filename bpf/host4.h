/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 addresses (and prefixes longer than /24, expanded): one Bloom block. */
#ifndef XDP_BLOOM_HOST4_H
#define XDP_BLOOM_HOST4_H

#include "bloom.h"

struct bloom_map host4 SEC(".maps");

/* address: host byte order. */
static __always_inline bool host4_listed(__u32 address)
{
	struct xb_key key = params_key();

	return bloom_contains(&host4, &params.host4, &key, xb_hash_ipv4(&key, address));
}

#endif
