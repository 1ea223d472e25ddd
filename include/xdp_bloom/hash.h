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

/* address: host byte order. A bijection. It takes one multiplication, because the packet waits
 * for it; the parts of the hash are multiplied again, see struct xb_probes. */
XB_HASH_INLINE __u64 xb_hash_ipv4(const struct xb_key *key, __u32 address)
{
	__u64 x = (key->a ^ address) * 0xbf58476d1ce4e5b9ULL;

	return x ^ (x >> 32);
}

/* Of the first 32 bits of an IPv6 address, host byte order. */
XB_HASH_INLINE __u64 xb_hash_head(const struct xb_key *key, __u32 head)
{
	return xb_mix64(key->a ^ head);
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

/* The state of SipHash-1-3 (Aumasson, Bernstein, INDOCRYPT 2012; rounds reduced as in their note on
 * 1-3), taken in words of 8 bytes. */
struct xb_sip {
	__u64 v0, v1, v2, v3;
};

XB_HASH_INLINE struct xb_sip xb_sip_begin(const struct xb_key *key)
{
	return (struct xb_sip){
		.v0 = key->a ^ 0x736f6d6570736575ULL,
		.v1 = key->b ^ 0x646f72616e646f6dULL,
		.v2 = key->a ^ 0x6c7967656e657261ULL,
		.v3 = key->b ^ 0x7465646279746573ULL,
	};
}

XB_HASH_INLINE void xb_sip_take(struct xb_sip *sip, __u64 word)
{
	sip->v3 ^= word;
	XB_SIPROUND(sip->v0, sip->v1, sip->v2, sip->v3);
	sip->v0 ^= word;
}

XB_HASH_INLINE __u64 xb_sip_end(struct xb_sip sip)
{
	sip.v2 ^= 0xff;
	XB_SIPROUND(sip.v0, sip.v1, sip.v2, sip.v3);
	XB_SIPROUND(sip.v0, sip.v1, sip.v2, sip.v3);
	XB_SIPROUND(sip.v0, sip.v1, sip.v2, sip.v3);
	return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

/*
 * IPv6 prefixes: two sums of products of the four 32-bit words of the address, of each the upper
 * half (Lemire, Kaser, The Computer Journal 2014, "Strongly universal string hashing is fast":
 * MULTILINEAR-HM, with 64-bit factors for 32-bit words). The factors are random and secret. So for
 * any two prefixes, chosen without knowledge of the factors, all pairs of 64-bit hashes are
 * equally likely. docs/security.md says what that is enough for.
 */
struct xb_sum6 {
	__u64 factor[4]; /* of the words, two of which make a product */
	__u64 first;
	__u64 tag_factor;
};

/* New in every generation. */
struct xb_key6 {
	struct xb_sum6 sum[2];
	__u64 head[2]; /* of xb_hash_head6() */
};

/* What the prefix length adds to a sum, and a class, which stands above it. It is the same for all
 * prefixes of this length and class. */
XB_HASH_INLINE __u64 xb_term6(const struct xb_sum6 *sum, __u32 tag)
{
	return sum->first + sum->tag_factor * tag;
}

/*
 * The second word of a product is not cut out of its 64 bits. If two addresses differ in the first
 * word, their sums differ by the second factor times less than 2^32; if they differ in the second
 * word alone, by the first factor times less than 2^32. That is all that the proof needs.
 */
XB_HASH_INLINE __u64 xb_sum6_of(const __u64 factor[4], __u64 hi, __u64 lo, __u64 term)
{
	return (factor[0] + (hi >> 32)) * (factor[1] + hi) +
	       (factor[2] + (lo >> 32)) * (factor[3] + lo) + term;
}

XB_HASH_INLINE __u64 xb_join6(__u64 first, __u64 second)
{
	return (first & 0xffffffff00000000ULL) | second >> 32;
}

/* hi, lo: the network address, host byte order, bits beyond the length zero. */
XB_HASH_INLINE __u64 xb_hash_ipv6(const struct xb_key6 *key, __u64 hi, __u64 lo, __u32 tag)
{
	const struct xb_sum6 *a = &key->sum[0], *b = &key->sum[1];

	return xb_join6(xb_sum6_of(a->factor, hi, lo, xb_term6(a, tag)),
			xb_sum6_of(b->factor, hi, lo, xb_term6(b, tag)));
}

/* Of the first 32 bits of an address. Only the upper half is as good as above. A product alone
 * would leave /32s in a row at equal distances, which with few keys means on a few places; so they
 * are stirred before. */
XB_HASH_INLINE __u64 xb_hash_head6(const __u64 key[2], __u32 head)
{
	__u32 stirred = head * 0x9e3779b1U;

	return key[0] + key[1] * (stirred ^ stirred >> 15);
}

/* A prefix length of IPv4 (0 to 32) in a class (1 to 15), as two bits of a word: so the words of
 * scope_lengths4 have them (layout.h). */
XB_HASH_INLINE __u64 xb_scoped4_mark(__u32 class, __u32 length)
{
	return 1ULL << (32 + class) | 1ULL << (32 - length);
}

/*
 * An IPv4 prefix in a class. mark: of both, see above. address: the network address, host byte
 * order. A bijection, since the upper halves of the products differ for any two marks
 * (tests/unit/filter/test_scopemap). As xb_hash_ipv4(), it lets the packet wait for one
 * multiplication that knows the address.
 */
XB_HASH_INLINE __u64 xb_hash_scoped4(const struct xb_key *key, __u64 mark, __u32 address)
{
	__u64 upper = (mark * 0x9e3779b97f4a7c15ULL) & 0xffffffff00000000ULL;
	__u64 x = (key->a ^ upper ^ address) * 0xbf58476d1ce4e5b9ULL;

	return x ^ (x >> 32);
}

/* An IPv6 prefix in a class: as xb_hash_ipv6(), with the class beside the length. */
XB_HASH_INLINE __u32 xb_scoped6_tag(__u32 class, __u32 length)
{
	return class << 8 | length;
}

/*
 * Names: two sums as above, whose words are the labels as in a DNS message, length byte first, from
 * the last label of the name to its first, each filled up with zeros to whole words, letters small.
 * So the sums behind each label are those of the suffix that begins there. Each place of a word has
 * factors of its own. Those of the first place that a name does not reach end its hash: one of them
 * for "this name and all below it", the other for "this name and none below it". So the theorem
 * holds for names of any lengths. The hash has 60 bits: the four on top are the verdict's in
 * struct xb_bucket.
 */
#define XB_NAME_LABELS 127 /* at most */
#define XB_NAME_WORDS  127 /* the same: a label of one byte takes a word */
#define XB_NAME_HASH   (~0ULL >> 4)

/* Of one place; of each sum, one factor for the upper half of a word and one for the word. */
struct xb_name_factors {
	__u64 first[2];
	__u64 second[2];
};

/* New in every generation. A label has at most 8 words, so that a reader who begins at any place
 * stays within. */
struct xb_name_key {
	struct xb_name_factors place[XB_NAME_WORDS + 8];
};

struct xb_name_sums {
	__u64 first, second;
};

/* Words of 8 bytes that a label of so many bytes takes with its length byte. */
XB_HASH_INLINE __u32 xb_label_words(__u32 length)
{
	return (length + 8) >> 3;
}

/* Of a label's last word, the bytes that are the label's (little endian). */
XB_HASH_INLINE __u64 xb_label_mask(__u32 length)
{
	return ~0ULL >> (8 * (7 - (length & 7)));
}

/* Eight bytes with A to Z made small; others stay, also length bytes, which are at most 63. */
XB_HASH_INLINE __u64 xb_lower8(__u64 bytes)
{
	const __u64 ones = 0x0101010101010101ULL;
	__u64 low7 = bytes & (0x7f * ones);
	__u64 from_a = low7 + (0x80 - 'A') * ones, past_z = low7 + (0x7f - 'Z') * ones;

	return bytes | ((from_a & ~past_z & ~bytes & (0x80 * ones)) >> 2);
}

XB_HASH_INLINE __u64 xb_name_product(const volatile __u64 factor[2], __u64 word)
{
	return (factor[0] + (word >> 32)) * (factor[1] + word);
}

/* Takes the word at the place of these factors. */
XB_HASH_INLINE void xb_name_take(struct xb_name_sums *sums,
				 const volatile struct xb_name_factors *at, __u64 word)
{
	sums->first += xb_name_product(at->first, word);
	sums->second += xb_name_product(at->second, word);
}

/* end: the factors of the place behind the last word. exact: 1 for "none below it", else 0. */
XB_HASH_INLINE __u64 xb_hash_name(const struct xb_name_sums *sums,
				  const volatile struct xb_name_factors *end, __u32 exact)
{
	return xb_join6(sums->first + end->first[exact], sums->second + end->second[exact]) &
	       XB_NAME_HASH;
}

/*
 * The probes of a hash. A probe is one bit in one 64-bit word: probe i in word i % 8 of the block,
 * 6 bits of hash each. One word has only 64 bits, so `place`, which chooses the block, comes
 * first, and the read of memory can begin. Probes 0 to 7 come from `low`, by another multiplication
 * while memory is awaited, and 8 to 15 from xb_probes_high(). With fewer multiplications,
 * neighbours in regular lists hit more often than promised (tests/unit/bloom/test_neighbours,
 * docs/performance/tried.md).
 */
#define XB_PROBE_BITS 6

struct xb_probes {
	__u64 low;
	__u32 place;
};

XB_HASH_INLINE __u64 xb_next_word(__u64 word)
{
	word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93ULL;
	return word ^ (word >> 32);
}

XB_HASH_INLINE struct xb_probes xb_probes_of(const struct xb_key *key, __u64 hash)
{
	__u64 word = (hash ^ key->b) * 0x9fb21c651e98df25ULL;

	return (struct xb_probes){.low = xb_next_word(word), .place = (__u32)(word >> 32)};
}

/* The bits of probes 8 to 15; worth computing only for a filter that has them. */
XB_HASH_INLINE __u64 xb_probes_high(const struct xb_probes *probes)
{
	return xb_next_word(probes->low);
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

	return (word >> (XB_PROBE_BITS * (i & 7))) & 63;
}

/*
 * The two buckets of the confirm stage a key may stand in. The table is cut into parts, and
 * both buckets lie in the same part, so that each part is built by one thread. Bits of their own: a
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

/* Where a key may stand, and what stands for it there; never 0, which is a free slot. */
struct xb_spot {
	__u64 value;
	__u32 bucket;
};

/* The fingerprint of a prefix in a class or a name in its bucket; never 0. */
XB_HASH_INLINE __u64 xb_fingerprint(__u64 hash)
{
	return hash ? hash : 1;
}

#endif
