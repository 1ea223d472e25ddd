/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to lay out the blocks of a Bloom filter and to look into them. Compiled for both sides:
 * wherever this is inlined the layout is a constant, so each one leaves only its own instructions.
 */
#ifndef XB_BENCH_LAYOUTS_H
#define XB_BENCH_LAYOUTS_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"
#include "xdp_bloom/layout.h"

enum layout_hash {
	HASH_OURS, /* the shipped one: two multiplications for the block, a third for the bits */
	HASH_MIX,  /* one more: SplitMix64's finalizer, and two */
	HASH_TWO,  /* two for the block, the bits from the first of them */
	HASH_ONE,  /* one, for block and bits together */
	HASH_SIP,  /* SipHash-1-3, and two multiplications */
};

enum layout_order {
	ORDER_NEXT,  /* word by word, the hash shifted on for each; as it ships */
	ORDER_UP,    /* word by word, each bit's number cut out of the hash and masked */
	ORDER_DOWN,  /* the last word first */
	ORDER_FOURS, /* four words are loaded before the first is looked at */
};

enum layout_blocks {
	BLOCKS_MAP,   /* an element of the map each */
	BLOCKS_VALUE, /* all in the one element of a map */
};

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define SECTORS_TURN 0 /* as many as there are probes, from a word on that the hash picks */

struct layout {
	__u32 words;   /* of 64 bits, in a block */
	__u32 sectors; /* a block has so many, and probe i is in one word of sector i % sectors,
			* which the hash picks where a sector has several; or SECTORS_TURN */
	__u32 halves;  /* 1: words of 32 bits, twice as many */
	__u32 probes;
	__u32 step; /* a clean one may be told after so many probes; 0: no branch before the end */
	__u32 hash, order, blocks;
};

/* X(name, text, words, sectors, halves, probes, step, hash, order, blocks) */
#define LAYOUTS(X)                                                                                 \
	X(ships, "8 words, 1 bit each (ships)", 8, 8, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)  \
	X(again, "the same again", 8, 8, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)               \
	X(steps2, "steps of 2, 6 words", 8, 8, 0, 8, 2, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)         \
	X(steps4, "steps of 4, 4 words", 8, 8, 0, 8, 4, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)         \
	X(sectors4, "4 words of 8, 2 bits each", 8, 4, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP) \
	X(sectors2, "2 words of 8, 4 bits each", 8, 2, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP) \
	X(sectors1, "1 word of 8, 8 bits", 8, 1, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)       \
	X(block4, "4 words, 2 bits each", 4, 4, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)        \
	X(block2, "2 words, 4 bits each", 2, 2, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)        \
	X(probes4, "4 probes, words in turn", 8, 0, 0, 4, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)    \
	X(pairs4, "4 words of 8, 1 bit each", 8, 4, 0, 4, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)    \
	X(probes5, "5 probes, words in turn", 8, 0, 0, 5, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)    \
	X(probes6, "6 probes, words in turn", 8, 0, 0, 6, 0, HASH_OURS, ORDER_NEXT, BLOCKS_MAP)    \
	X(probes10, "10 probes, 2 in two words", 8, 8, 0, 10, 0, HASH_OURS, ORDER_NEXT,            \
	  BLOCKS_MAP)                                                                              \
	X(probes16, "16 probes, 2 in each word", 8, 8, 0, 16, 0, HASH_OURS, ORDER_NEXT,            \
	  BLOCKS_MAP)                                                                              \
	X(halves16, "16 half words, 1 bit each", 8, 8, 1, 16, 0, HASH_OURS, ORDER_NEXT,            \
	  BLOCKS_MAP)                                                                              \
	X(one, "ships, 1 multiplication", 8, 8, 0, 8, 0, HASH_ONE, ORDER_NEXT, BLOCKS_MAP)         \
	X(two, "ships, 2 multiplications", 8, 8, 0, 8, 0, HASH_TWO, ORDER_NEXT, BLOCKS_MAP)        \
	X(mix, "ships, 4 multiplications", 8, 8, 0, 8, 0, HASH_MIX, ORDER_NEXT, BLOCKS_MAP)        \
	X(masked, "ships, each bit cut out", 8, 8, 0, 8, 0, HASH_OURS, ORDER_UP, BLOCKS_MAP)       \
	X(sip, "ships, SipHash-1-3", 8, 8, 0, 8, 0, HASH_SIP, ORDER_NEXT, BLOCKS_MAP)              \
	X(down, "ships, last word first", 8, 8, 0, 8, 0, HASH_OURS, ORDER_DOWN, BLOCKS_MAP)        \
	X(fours, "ships, loads of four words first", 8, 8, 0, 8, 0, HASH_OURS, ORDER_FOURS,        \
	  BLOCKS_MAP)                                                                              \
	X(value, "ships, one large value", 8, 8, 0, 8, 0, HASH_OURS, ORDER_NEXT, BLOCKS_VALUE)

/* Which bits a key stands for. */
XB_HASH_INLINE struct xb_probes layout_probes(struct layout layout, const struct xb_key *key,
					      __u32 address)
{
	__u64 hash;

	if (layout.hash == HASH_OURS)
		return xb_probes_of(key, xb_hash_ipv4(key, address));
	if (layout.hash == HASH_TWO) {
		hash = xb_hash_ipv4(key, address);
		return (struct xb_probes){.low = hash, .place = xb_probes_of(key, hash).place};
	}
	if (layout.hash == HASH_MIX)
		return xb_probes_of(key, xb_mix64(key->a ^ address));
	if (layout.hash == HASH_SIP) {
		struct xb_sip sip = xb_sip_begin(key);

		xb_sip_take(&sip, (4ULL << 56) | address);
		return xb_probes_of(key, xb_sip_end(sip));
	}
	hash = (key->a ^ address) * 0x9fb21c651e98df25ULL;
	hash ^= hash >> 32;
	return (struct xb_probes){.low = hash, .place = (__u32)(hash >> 32)};
}

/* The top 16 bits of the first word are nobody's: they pick the word. */
XB_HASH_INLINE __u32 layout_word(struct layout layout, const struct xb_probes *probes, __u32 i)
{
	__u32 picks = (__u32)(probes->low >> 48), sector, each;

	if (layout.sectors == SECTORS_TURN)
		return (picks + i) % layout.words;
	if (layout.halves)
		return i % (2 * layout.sectors) / 2;
	sector = i % layout.sectors;
	each = layout.words / layout.sectors;
	return sector * each + (picks >> (sector * (each >> 1))) % each;
}

XB_HASH_INLINE __u32 layout_bit(struct layout layout, const struct xb_probes *probes, __u32 i)
{
	__u32 bit = (__u32)xb_probe_bit(probes, i);

	return layout.halves ? bit % 32 + i % 2 * 32 : bit;
}

XB_HASH_INLINE __u64 layout_shifted(__u64 word, __u64 by)
{
#ifdef __bpf__
	asm("%0 >>= %1" : "+r"(word) : "r"(by)); /* by 6 bits of it, without a mask */
	return word;
#else
	return word >> (by & 63);
#endif
}

/* In bit 0, whether all probes from first to last (not with it) find their bits. */
XB_HASH_INLINE __u64 layout_holds(struct layout layout, const struct xb_probes *probes,
				  const __u64 *block, __u32 first, __u32 last)
{
	__u64 all = 1;

	if (layout.order == ORDER_FOURS) {
		UNROLL
		for (__u32 i = first; i < last; i += 4) {
			__u64 a = block[i], b = block[i + 1], c = block[i + 2], d = block[i + 3];

			asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
			all &= a >> layout_bit(layout, probes, i);
			all &= b >> layout_bit(layout, probes, i + 1);
			all &= c >> layout_bit(layout, probes, i + 2);
			all &= d >> layout_bit(layout, probes, i + 3);
		}
		return all & 1;
	}
	if (layout.order == ORDER_NEXT && !layout.halves) {
		__u64 bits = probes->low >> (XB_PROBE_BITS * first);

		UNROLL
		for (__u32 i = first; i < last; i++, bits >>= XB_PROBE_BITS) {
			if (i == XB_BLOCK_WORDS)
				bits = xb_probes_high(probes);
			all &= layout_shifted(block[layout_word(layout, probes, i)], bits);
		}
		return all & 1;
	}
	UNROLL
	for (__u32 n = first; n < last; n++) {
		__u32 i = layout.order == ORDER_DOWN ? last - 1 - (n - first) : n;

		all &= block[layout_word(layout, probes, i)] >> layout_bit(layout, probes, i);
	}
	return all & 1;
}

XB_HASH_INLINE int layout_contains(struct layout layout, const struct xb_probes *probes,
				   const __u64 *block)
{
	if (!layout.step)
		return layout_holds(layout, probes, block, 0, layout.probes) != 0;
	if (!layout_holds(layout, probes, block, 0, layout.step))
		return 0;
	return layout_holds(layout, probes, block, layout.step, layout.probes) != 0;
}

#endif
