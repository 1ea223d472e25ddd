/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keyed hashes of the filter and what is cut out of them. Compiled for both sides. */
#ifndef XDP_BLOOM_HASH_H
#define XDP_BLOOM_HASH_H

#include <linux/types.h>

#define XB_HASH_INLINE static inline __attribute__((always_inline))

/* 128 random bits, new in every generation, known to nobody but the programs of this generation. */
struct xb_key {
	__u64 a;
	__u64 b;
};

/* A 64-bit bijection that spreads every input bit: the finalizer of SplitMix64 (Steele, Lea, Flood,
 * OOPSLA 2014). */
XB_HASH_INLINE __u64 xb_mix64(__u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* address: host byte order. Also used for the first 32 bits of an IPv6 address. */
XB_HASH_INLINE __u64 xb_hash_ipv4(const struct xb_key *key, __u32 address)
{
	return xb_mix64(key->a ^ address);
}

#define XB_ROTL64(x, n) (((x) << (n)) | ((x) >> (64 - (n))))

#define XB_SIPROUND(v0, v1, v2, v3)                                                                \
	do {                                                                                       \
		v0 += v1;                                                                          \
		v1 = XB_ROTL64(v1, 13) ^ v0;                                                       \
		v0 = XB_ROTL64(v0, 32);                                                            \
		v2 += v3;                                                                          \
		v3 = XB_ROTL64(v3, 16) ^ v2;                                                       \
		v0 += v3;                                                                          \
		v3 = XB_ROTL64(v3, 21) ^ v0;                                                       \
		v2 += v1;                                                                          \
		v1 = XB_ROTL64(v1, 17) ^ v2;                                                       \
		v2 = XB_ROTL64(v2, 32);                                                            \
	} while (0)

/*
 * SipHash-1-3 (Aumasson, Bernstein, INDOCRYPT 2012; rounds reduced as in their note on 1-3) of the
 * 17-byte message hi, lo (little endian words), prefix length. hi, lo: the network address, host
 * byte order, bits beyond the length zero.
 */
XB_HASH_INLINE __u64 xb_hash_ipv6(const struct xb_key *key, __u64 hi, __u64 lo, __u32 length)
{
	__u64 v0 = key->a ^ 0x736f6d6570736575ULL;
	__u64 v1 = key->b ^ 0x646f72616e646f6dULL;
	__u64 v2 = key->a ^ 0x6c7967656e657261ULL;
	__u64 v3 = key->b ^ 0x7465646279746573ULL;
	__u64 last = (17ULL << 56) | length;

	v3 ^= hi;
	XB_SIPROUND(v0, v1, v2, v3);
	v0 ^= hi;
	v3 ^= lo;
	XB_SIPROUND(v0, v1, v2, v3);
	v0 ^= lo;
	v3 ^= last;
	XB_SIPROUND(v0, v1, v2, v3);
	v0 ^= last;
	v2 ^= 0xff;
	XB_SIPROUND(v0, v1, v2, v3);
	XB_SIPROUND(v0, v1, v2, v3);
	XB_SIPROUND(v0, v1, v2, v3);
	return v0 ^ v1 ^ v2 ^ v3;
}

/*
 * What one hash decides. A probe is one bit in one 64-bit word: probe i in word i % 8 of the block,
 * 6 bits of hash each. Probes 0 to 7 come from `low`, 8 to 15 from xb_probes_high(), the block from
 * `place`: three words, because one has only 64 bits.
 */
struct xb_probes {
	__u64 low;
	__u64 second;
	__u32 place;
};

XB_HASH_INLINE struct xb_probes xb_probes_of(const struct xb_key *key, __u64 hash)
{
	__u64 second = (hash ^ key->b) * 0x9fb21c651e98df25ULL;

	return (struct xb_probes){.low = hash, .second = second, .place = (__u32)(second >> 32)};
}

/* The bits of probes 8 to 15; worth computing only for a filter that has them. */
XB_HASH_INLINE __u64 xb_probes_high(const struct xb_probes *probes)
{
	__u64 third = (probes->second ^ (probes->second >> 32)) * 0xd6e8feb86659fd93ULL;

	return third ^ (third >> 32);
}

/* Maps 32 uniform bits to 0 .. count-1 without division (Lemire, ACM TOMACS 2019). */
XB_HASH_INLINE __u32 xb_scale(__u32 uniform, __u32 count)
{
	return (__u32)(((__u64)uniform * count) >> 32);
}

/* Which bit of word i % 8 probe i stands for: 0 to 63. */
XB_HASH_INLINE __u64 xb_probe_bit(const struct xb_probes *probes, __u32 i)
{
	__u64 word = i < 8 ? probes->low : xb_probes_high(probes);

	return (word >> (6 * (i & 7))) & 63;
}

/*
 * The two buckets of the confirm stage a key may stand in. The table is cut into parts, both
 * buckets lie in the same one, so that parts are built by a thread each. Bits of their own: a
 * second word is mixed out of the hash.
 */
struct xb_choices {
	__u32 first;
	__u32 second;
};

XB_HASH_INLINE struct xb_choices xb_choices_of(const struct xb_key *key, __u64 hash, __u32 parts,
					       __u32 size)
{
	__u64 word = xb_mix64(hash + key->b);
	__u64 scaled = (word >> 32) * parts;
	__u32 part = (__u32)(scaled >> 32) * size;

	return (struct xb_choices){.first = part + xb_scale((__u32)scaled, size),
				   .second = part + xb_scale((__u32)word, size)};
}

/* What stands for an IPv6 prefix (or name) in its bucket; 0 is a free slot. */
XB_HASH_INLINE __u64 xb_fingerprint(__u64 hash)
{
	return hash ? hash : 1;
}

#endif
