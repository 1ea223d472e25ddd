/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv6 prefixes from /33 on: one Bloom block for each length that can match the source. */
#ifndef XDP_BLOOM_NET6_H
#define XDP_BLOOM_NET6_H

#include "allow.h"
#include "bits.h"
#include "bloom.h"
#include "exact.h"

struct bloom_map net6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_slots6);
} slots6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cells6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_lengths);
} lengths6 SEC(".maps");

struct net6_walk {
	__u64 hi, lo;
	__u64 always;	/* lengths 0 to 31 left to probe, of scopes alone */
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

/* One of the two sums of a hash. number is a constant. hi, lo: masked. */
static __always_inline __u64 net6_sum(__u32 number, __u64 hi, __u64 lo, __u64 term)
{
	const volatile __u64 *factors = params.key6.sum[number].factor;
	const __u64 factor[4] = {factors[0], factors[1], factors[2], factors[3]};

	return xb_sum6_of(factor, hi, lo, term);
}

static __always_inline __u64 net6_term(__u32 number, __u32 tag)
{
	return params.key6.sum[number].first + params.key6.sum[number].tag_factor * tag;
}

/* tag: the length, with a class or without. */
static __always_inline __u64 net6_hash(__u64 hi, __u64 lo, __u32 length, __u32 tag)
{
	hi &= leading_ones(length < 64 ? length : 64);
	lo &= leading_ones(length > 64 ? length - 64 : 0);
	return xb_join6(net6_sum(0, hi, lo, net6_term(0, tag)),
			net6_sum(1, hi, lo, net6_term(1, tag)));
}

static __always_inline __u64 net6_slot_hash(const volatile struct xb_slot6 *slot, __u64 hi,
					    __u64 lo)
{
	hi &= slot->hi;
	lo &= slot->lo;
	return xb_join6(net6_sum(0, hi, lo, slot->term[0]), net6_sum(1, hi, lo, slot->term[1]));
}

/* That of slot 0. Hosts need no mask. */
static __always_inline __u64 net6_direct_hash(__u64 hi, __u64 lo)
{
	if (params.direct6_kind == XB_DIRECT6_HOSTS)
		return xb_join6(net6_sum(0, hi, lo, params.direct6.term[0]),
				net6_sum(1, hi, lo, params.direct6.term[1]));
	return net6_slot_hash(&params.direct6, hi, lo);
}

/* What becomes of a hash needs this part of the key alone. */
static __always_inline struct xb_key net6_key(void)
{
	return (struct xb_key){.b = params.key.b};
}

/* hash: of prefix and length. */
static __always_inline bool confirm_net6(__u64 hash)
{
	const struct xb_quotient_key step = {.step = params.key4.step};
	struct xb_key key = net6_key();

	return !params.confirm || exact_find6(&confirm6, &params.confirm6, &key, &step, hash);
}

static __always_inline bool net6_contains(__u64 hash)
{
	struct xb_key key = net6_key();

	return bloom_contains(&net6, &params.net6, &key, hash);
}

static long net6_probe(__u32 round __attribute__((unused)), void *data)
{
	struct net6_walk *walk = data;
	__u32 length = net6_next_length(walk);
	__u64 hash;

	if (length > 128)
		return 1;
	hash = net6_hash(walk->hi, walk->lo, length, length);
	if (!net6_contains(hash))
		return 0;
	walk->found = confirm_net6(hash) ? XB_LISTED_IPV6 : XB_UNCONFIRMED;
	return walk->found == XB_LISTED_IPV6;
}

static __always_inline __u64 net6_head_hash(__u64 hi)
{
	const __u64 key[2] = {params.key6.head[0], params.key6.head[1]};

	return xb_hash_head6(key, hi >> 32);
}

/* The lengths of the slots in left. */
static __always_inline void net6_take_slots(struct net6_walk *walk, const struct xb_slots6 *slots,
					    __u32 left)
{
	for (__u32 i = 0; i < XB_SLOTS6; i++) {
		__u32 length = slots->length[i], bit = length - XB_LENGTH_SPLIT;

		if (!(left >> i & 1))
			continue;
		if (bit < 64)
			walk->cover[0] |= 1ULL << bit;
		else
			walk->cover[1] |= 1ULL << (bit & 63);
	}
}

/* Those that have no slot. */
static __always_inline void net6_take_others(struct net6_walk *walk)
{
	struct xb_key key = params_key();
	__u32 index = 1 + xb_scale(xb_hash_head(&key, walk->hi >> 32) >> 32, params.length_cells);
	struct xb_lengths *cover = bpf_map_lookup_elem(&lengths6, &index);

	if (!cover)
		return;
	walk->cover[0] |= cover->bits[0];
	walk->cover[1] |= cover->bits[1];
}

/* Looks up what is left: slots as bits, XB_OTHERS6. Not static, as in scope.h: the
 * verifier reads it once. */
__noinline int net6_search(__u64 hi, __u64 lo, __u32 left)
{
	struct net6_walk walk = {.hi = hi, .lo = lo, .found = XB_CLEAN};
	struct xb_slots6 *slots;
	__u32 first = 0;

	if (!params.net6.blocks)
		return XB_CLEAN;
	slots = bpf_map_lookup_elem(&slots6, &first);
	if (!slots)
		return XB_CLEAN;
	net6_take_slots(&walk, slots, left);
	if (left & XB_OTHERS6)
		net6_take_others(&walk);
	bpf_loop(128 - XB_LENGTH_SPLIT, net6_probe, &walk, 0);
	return walk.found;
}

/* The slots to look up, and XB_OTHERS6. */
static __always_inline __u32 net6_matching(const struct xb_slots6 *slots, __u64 hi)
{
	__u32 matching = slots->always, index;
	__u64 hash, *word;

	if (!slots->celled)
		return matching;
	hash = net6_head_hash(hi);
	index = xb_cell6_word(hash, params.cell_words);
	word = bpf_map_lookup_elem(&cells6, &index);
	return word ? matching | (shifted(*word, xb_cell6_shift(hash)) & 0xff) : matching;
}

/* Looks up slots until one hits, and removes them from *left. */
static __always_inline bool net6_hits(const struct xb_slots6 *slots, __u64 hi, __u64 lo,
				      __u32 *left, __u64 *hash)
{
	bool hit = false;

	if (params.direct6_kind) {
		*hash = net6_direct_hash(hi, lo);
		hit = net6_contains(*hash);
		*left &= ~1U;
	}
	for (__u32 i = 0; i < XB_SLOTS6 && *left && !hit; i++) {
		*hash = net6_slot_hash(&slots->slot[lowest_bit(*left) & XB_SLOTS6], hi, lo);
		hit = net6_contains(*hash);
		*left &= *left - 1;
	}
	return hit;
}

/* hi, lo: the source, host byte order. What is left behind a wrong hit, and lengths without a slot,
 * are for the search: they are rare, and a call takes time. *at_gate: whether the allowlist may
 * have a listed source. */
static __always_inline enum xb_reason net6_judge(__u64 hi, __u64 lo, bool *at_gate)
{
	__u32 first = 0, left;
	struct xb_slots6 *slots = bpf_map_lookup_elem(&slots6, &first);
	__u64 hash = 0;

	if (!slots)
		return XB_CLEAN;
	left = net6_matching(slots, hi);
	if (left >= XB_OTHERS6)
		return net6_search(hi, lo, left);
	if (!net6_hits(slots, hi, lo, &left, &hash))
		return XB_CLEAN;
	*at_gate = gate_open_ipv6(hi);
	if (confirm_net6(hash))
		return XB_LISTED_IPV6;
	*at_gate = true;
	if (left && net6_search(hi, lo, left) == XB_LISTED_IPV6)
		return XB_LISTED_IPV6;
	return XB_UNCONFIRMED;
}

#endif
