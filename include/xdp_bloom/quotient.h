/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the exact table holds IPv4 addresses: a slot has only what its bucket does not tell already
 * (quotients: Cleary, IEEE Transactions on Computers, 1984), so it is narrower than an address, and
 * the look-up is exact all the same. Compiled for both sides.
 */
#ifndef XDP_BLOOM_QUOTIENT_H
#define XDP_BLOOM_QUOTIENT_H

#include "xdp_bloom/hash.h"

/* New in every generation. All are odd. */
struct xb_quotient_key {
	__u32 factor[3];
	__u32 step;
};

/*
 * A bijection of the 32 bits, of which the upper ones choose the bucket. Each factor makes a
 * multiply-shift hash (Dietzfelbinger, Hagerup, Katajainen, Penttonen, Journal of Algorithms,
 * 1997): two addresses chosen without knowledge of the last one agree in their upper k bits with a
 * probability of at most 2 / 2^k. With fewer factors, addresses at equal distances crowd into some
 * of the buckets for one key in a hundred (tests/unit/bloom/test_quotient).
 */
XB_HASH_INLINE __u32 xb_permute4(const struct xb_quotient_key *key, __u32 address)
{
	__u32 x = address * key->factor[0];

	x = (x ^ x >> 15) * key->factor[1];
	return (x ^ x >> 15) * key->factor[2];
}

/* Slots of 16, 21 or 32 bits: 4, 3 or 2 in a word. */
#define XB_SLOT_NARROW 16
#define XB_SLOT_MIDDLE 21
#define XB_SLOT_WIDE   32

/* The lowest bit of each slot of a word. */
XB_HASH_INLINE __u64 xb_slot_ones(__u32 bits)
{
	return bits == XB_SLOT_NARROW	? 0x0001000100010001ULL
	       : bits == XB_SLOT_MIDDLE ? 0x0000040000200001ULL
					: 0x0000000100000001ULL;
}

/* The largest remainder, and so the bits of a slot that hold it. The bit above them is set in the
 * second bucket of an address. */
XB_HASH_INLINE __u32 xb_slot_most(__u32 bits)
{
	return bits == XB_SLOT_NARROW ? 0x7fff : bits == XB_SLOT_MIDDLE ? 0xfffff : 0x7fffffff;
}

/* Whether so many buckets tell enough of an address that slots of so many bits hold the rest. */
XB_HASH_INLINE int xb_slot_suffices(__u64 buckets, __u32 bits)
{
	return buckets * xb_slot_most(bits) >= 1ULL << 32;
}

/* Both buckets of an address lie in one part of the table, see struct xb_choices. */
struct xb_quotient {
	__u32 start;	 /* the first bucket of the part */
	__u32 home;	 /* how far behind it the first bucket of the address is */
	__u32 remainder; /* 1 or more; tells it from all others with that first bucket */
};

/*
 * The addresses of a bucket have numbers `permuted` in a row. What is left when part and bucket are
 * cut off goes up by parts * size from each to the next, so its upper bits differ if there are as
 * many buckets as xb_slot_suffices() asks for.
 */
XB_HASH_INLINE struct xb_quotient xb_quotient_of(const struct xb_quotient_key *key, __u32 address,
						 __u32 parts, __u32 size, __u32 bits)
{
	__u64 part = (__u64)xb_permute4(key, address) * parts;
	__u64 bucket = (part & 0xffffffff) * size;

	return (struct xb_quotient){.start = (__u32)(part >> 32) * size,
				    .home = (__u32)(bucket >> 32),
				    .remainder = xb_scale((__u32)bucket, xb_slot_most(bits)) + 1};
}

/* How far the second bucket is behind the first, in the circle of their part; from the remainder
 * alone, so that either bucket tells the other (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT
 * 2014). */
XB_HASH_INLINE __u32 xb_quotient_distance(const struct xb_quotient_key *key, __u32 remainder,
					  __u32 size)
{
	return 1 + xb_scale(remainder * key->step, size - 1);
}

XB_HASH_INLINE struct xb_spot xb_quotient_first(const struct xb_quotient *quotient)
{
	return (struct xb_spot){.bucket = quotient->start + quotient->home,
				.value = quotient->remainder};
}

XB_HASH_INLINE struct xb_spot xb_quotient_second(const struct xb_quotient_key *key,
						 const struct xb_quotient *quotient, __u32 size,
						 __u32 bits)
{
	__u32 at = quotient->home + xb_quotient_distance(key, quotient->remainder, size);

	return (struct xb_spot){.bucket = quotient->start + (at < size ? at : at - size),
				.value = quotient->remainder | (xb_slot_most(bits) + 1)};
}

/* Of what stands in a slot. */
XB_HASH_INLINE struct xb_quotient xb_quotient_at(const struct xb_quotient_key *key,
						 const struct xb_spot *spot, __u32 size, __u32 bits)
{
	__u32 most = xb_slot_most(bits), remainder = (__u32)spot->value & most;
	__u32 at = spot->bucket % size;
	__u32 back = spot->value > most ? xb_quotient_distance(key, remainder, size) : 0;

	return (struct xb_quotient){.start = spot->bucket - at,
				    .home = at < back ? at + size - back : at - back,
				    .remainder = remainder};
}

#endif
