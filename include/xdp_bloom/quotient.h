/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the exact table holds IPv4 addresses and IPv6 prefixes: a slot has only what its bucket does
 * not tell already (quotients: Cleary, IEEE Transactions on Computers, 1984). Of an address it has
 * all the rest, so it is narrower than one and the look-up is exact all the same; of the hash of a
 * prefix it has 41 bits. Compiled for both sides.
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

/* Slots of addresses have 16, 21 or 32 bits: 4, 3 or 2 in a word. Of those of prefixes, each word
 * has one in its lower bits, and every two words another one, half in each above that. */
#define XB_SLOT_NARROW 16
#define XB_SLOT_MIDDLE 21
#define XB_SLOT_WIDE   32
#define XB_SLOT_PREFIX 42
#define XB_SLOT_HALF   (XB_SLOT_PREFIX / 2)

/* The lowest bit of each slot of a word, for addresses. */
XB_HASH_INLINE __u64 xb_slot_ones(__u32 bits)
{
	return bits == XB_SLOT_NARROW	? 0x0001000100010001ULL
	       : bits == XB_SLOT_MIDDLE ? 0x0000040000200001ULL
					: 0x0000000100000001ULL;
}

/* The largest remainder, and so the bits of a slot that hold it. The bit above them is set in the
 * second bucket of a key. */
XB_HASH_INLINE __u64 xb_slot_most(__u32 bits)
{
	return bits == XB_SLOT_NARROW	? 0x7fff
	       : bits == XB_SLOT_MIDDLE ? 0xfffff
	       : bits == XB_SLOT_WIDE	? 0x7fffffff
					: 0x1ffffffffffULL;
}

/* Whether so many buckets tell enough of an address that slots of so many bits hold the rest. */
XB_HASH_INLINE int xb_slot_suffices(__u64 buckets, __u32 bits)
{
	return buckets * xb_slot_most(bits) >= 1ULL << 32;
}

/* Both buckets of a key lie in one part of the table, see struct xb_choices. */
struct xb_quotient {
	__u32 start;	 /* the first bucket of the part */
	__u32 home;	 /* how far behind it the first bucket of the key is */
	__u64 remainder; /* 1 or more; tells it from others with that first bucket */
};

/* The number chooses the bucket, and what is left of it makes a remainder of 1 to most. */
XB_HASH_INLINE struct xb_quotient xb_quotient_cut(__u32 number, __u32 parts, __u32 size, __u32 most)
{
	__u64 part = (__u64)number * parts;
	__u64 bucket = (part & 0xffffffff) * size;

	return (struct xb_quotient){.start = (__u32)(part >> 32) * size,
				    .home = (__u32)(bucket >> 32),
				    .remainder = xb_scale((__u32)bucket, most) + 1};
}

/*
 * Of an address. Those of a bucket have numbers `permuted` in a row. What is left when part and
 * bucket are cut off goes up by parts * size from each to the next, so its upper bits differ if
 * there are as many buckets as xb_slot_suffices() asks for.
 */
XB_HASH_INLINE struct xb_quotient xb_quotient_of(const struct xb_quotient_key *key, __u32 address,
						 __u32 parts, __u32 size, __u32 bits)
{
	return xb_quotient_cut(xb_permute4(key, address), parts, size, (__u32)xb_slot_most(bits));
}

/*
 * Of the hash of a prefix. A bijection of the 64 bits spreads regular lists. Its upper half is cut
 * as the number of an address, and the slot has the lower half whole. So of 2^64 hashes, at most
 * 2^32 / (511 * buckets) + 1 have the same quotient, which is docs/security.md's bound of equal
 * ones; tests/unit/bloom/test_quotient counts them.
 */
XB_HASH_INLINE struct xb_quotient xb_quotient_of_hash(const struct xb_key *key, __u64 hash,
						      __u32 parts, __u32 size)
{
	__u64 word = xb_mix64(hash + key->b);
	struct xb_quotient quotient = xb_quotient_cut((__u32)(word >> 32), parts, size,
						      (__u32)(xb_slot_most(XB_SLOT_PREFIX) >> 32));

	quotient.remainder = quotient.remainder << 32 | (__u32)word;
	return quotient;
}

/* How far the second bucket is behind the first, in the circle of their part; from the remainder
 * alone, so that either bucket tells the other (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT
 * 2014). */
XB_HASH_INLINE __u32 xb_quotient_distance(const struct xb_quotient_key *key, __u64 remainder,
					  __u32 size)
{
	return 1 + xb_scale((__u32)remainder * key->step, size - 1);
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
	__u64 most = xb_slot_most(bits), remainder = spot->value & most;
	__u32 at = spot->bucket % size;
	__u32 back = spot->value > most ? xb_quotient_distance(key, remainder, size) : 0;

	return (struct xb_quotient){.start = spot->bucket - at,
				    .home = at < back ? at + size - back : at - back,
				    .remainder = remainder};
}

#endif
