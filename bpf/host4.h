/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 addresses (and prefixes longer than /24, expanded): one Bloom block. */
#ifndef XDP_BLOOM_HOST4_H
#define XDP_BLOOM_HOST4_H

#include "allow.h"
#include "bloom.h"
#include "exact.h"

struct bloom_map host4 SEC(".maps");

/* The outcome for a source that the Bloom filter hits. */
#define HOST4_LISTED	 1
#define HOST4_AT_GATE	 2 /* the allowlist may have it, too */
#define HOST4_CANNOT_SAY (HOST4_LISTED | HOST4_AT_GATE)

/* address: host byte order. Reads the gate's word together with the bucket, so that memory delivers
 * both at once. */
static __always_inline int confirm_host4(__u32 address)
{
	const struct xb_quotient_key key = {
		.factor = {params.key4.factor[0], params.key4.factor[1], params.key4.factor[2]},
		.step = params.key4.step,
	};
	int found = HOST4_LISTED | (gate_open_ipv4(address) ? HOST4_AT_GATE : 0);

	asm volatile("" : "+r"(found));
	return exact_find4(&confirm4, &params.confirm4, &key, address) ? found : 0;
}

/* address: host byte order. *at_gate: whether the allowlist may have a listed source. */
static __always_inline enum xb_reason host4_judge(__u32 address, bool *at_gate)
{
	struct xb_key key = params_key();
	__u64 hash = xb_hash_ipv4(&key, address);
	int found = HOST4_CANNOT_SAY;

	if (!bloom_contains(&host4, &params.host4, &key, hash))
		return XB_CLEAN;
	if (params.confirm)
		found = confirm_host4(address);
	*at_gate = found & HOST4_AT_GATE;
	return found ? XB_LISTED_IPV4_HOST : XB_UNCONFIRMED;
}

#endif
