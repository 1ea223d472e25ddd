/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv6 prefixes of every length: one Bloom block for each length that can match the source. */
#ifndef XDP_BLOOM_NET6_H
#define XDP_BLOOM_NET6_H

#include "bits.h"
#include "bloom.h"
#include "exact.h"

struct bloom_map net6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_lengths);
} lengths6 SEC(".maps");

struct net6_walk {
	__u64 hi, lo;
	__u64 always;	/* lengths 0 to 31 left to probe */
	__u64 cover[2]; /* lengths 32 to 128 left to probe, less 32 */
	enum xb_reason found;
};

/* The next length to probe, removed from the walk; more than 128 when none is left. */
static __always_inline __u32 net6_next_length(struct net6_walk *walk)
{
	__u32 bit;

	if (walk->cover[0]) {
		bit = lowest_bit(walk->cover[0]);
		walk->cover[0] &= walk->cover[0] - 1;
		return bit + XB_LENGTH_SPLIT;
	}
	if (walk->cover[1]) {
		bit = lowest_bit(walk->cover[1]);
		walk->cover[1] &= walk->cover[1] - 1;
		return bit + XB_LENGTH_SPLIT + 64;
	}
	if (walk->always) {
		bit = lowest_bit(walk->always);
		walk->always &= walk->always - 1;
		return bit;
	}
	return 129;
}

/* The first n bits set, n from 0 to 64. */
static __always_inline __u64 leading_ones(__u32 n)
{
	return n ? ~0ULL << ((64 - n) & 63) : 0;
}

/* hash: of prefix and length. */
static __always_inline int confirm_net6(__u64 hash)
{
	struct xb_key key = params_key();
	__u64 fingerprint = xb_fingerprint(hash);

	return !!exact_find(&confirm6, &params.confirm6, &key, fingerprint, SLOTS_HASH,
			    fingerprint);
}

static long net6_probe(__u32 round __attribute__((unused)), void *data)
{
	struct net6_walk *walk = data;
	__u32 length = net6_next_length(walk);
	struct xb_key key = params_key();
	__u64 hi, lo, hash;

	if (length > 128)
		return 1;
	hi = walk->hi & leading_ones(length < 64 ? length : 64);
	lo = walk->lo & leading_ones(length > 64 ? length - 64 : 0);
	hash = xb_hash_ipv6(&key, hi, lo, length);
	if (!bloom_contains(&net6, &params.net6, &key, hash))
		return 0;
	if (params.confirm && !confirm_net6(hash)) {
		walk->found = XB_UNCONFIRMED;
		return 0;
	}
	walk->found = XB_LISTED_IPV6;
	return 1;
}

/* hi, lo: the source, host byte order. */
static __always_inline enum xb_reason net6_judge(__u64 hi, __u64 lo)
{
	struct xb_key key = params_key();
	__u64 hash = xb_hash_head(&key, hi >> 32);
	__u32 first = 0;
	__u32 index = 1 + xb_scale(hash >> 32, params.length_cells);
	struct xb_lengths *always = bpf_map_lookup_elem(&lengths6, &first);
	struct xb_lengths *cover = bpf_map_lookup_elem(&lengths6, &index);
	struct net6_walk walk = {.hi = hi, .lo = lo, .found = XB_CLEAN};

	if (!always || !cover)
		return XB_CLEAN;
	walk.always = always->bits[0];
	walk.cover[0] = cover->bits[0];
	walk.cover[1] = cover->bits[1];
	if (!(walk.always | walk.cover[0] | walk.cover[1]))
		return XB_CLEAN;
	bpf_loop(129, net6_probe, &walk, 0);
	return walk.found;
}

#endif
