/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources by number: a program writes them into frames, tests know them. None that is innocent lies
 * in what the listed ones can be in. */
#ifndef XB_TESTS_SOURCE_H
#define XB_TESTS_SOURCE_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"

/* Two numbers give two sources: odd multiples and shifts are bijections of 31 bits. */
XB_HASH_INLINE __u32 source_scatter(__u32 number, __u32 seed)
{
	__u32 x = (number + seed) & 0x7fffffff;

	x ^= x >> 15;
	x = (x * 0x2c1b3c6dU) & 0x7fffffff;
	x ^= x >> 12;
	x = (x * 0x297a2d39U) & 0x7fffffff;
	return x ^ (x >> 15);
}

/* Bit 16 says whether an IPv4 address can be listed: it is in every prefix from /16 on. */
#define SOURCE_MARK4 0x00010000U

XB_HASH_INLINE __u32 source_unmarked4(__u32 number, __u32 seed)
{
	__u32 x = source_scatter(number, seed);

	return (x & 0xffff) | (x >> 16) << 17;
}

/*
 * IPv6: the first 32 bits of what is listed are 0x2a000001 + 2 * block. Blocks below SOURCE_BLOCKS
 * are not listed themselves, but have prefixes from /48 on, of which bit 16 of the upper half is
 * set. Below 0x30000000, prefixes of /28.
 */
#define SOURCE_BLOCKS	     2048
#define SOURCE_MARK6	     0x10000ULL
#define SOURCE_SHORT6	     0x30000000ULL
#define SOURCE_BLOCK6(block) ((0x2a000001ULL + 2 * (__u64)(block)) << 32)

struct source6 {
	__u64 hi, lo;
};

/* Odd numbers: below a block that has listed prefixes. Even ones: anywhere that nothing covers. The
 * lower half is a bijection of the number. */
XB_HASH_INLINE struct source6 source_innocent6(__u32 number, __u32 seed)
{
	__u64 lo = xb_mix64(((__u64)seed << 32) + number), random = xb_mix64(lo + 1);

	if (number & 1)
		return (struct source6){
			.hi = SOURCE_BLOCK6((number >> 1) % SOURCE_BLOCKS) |
			      (random & 0xffffffff & ~SOURCE_MARK6),
			.lo = lo,
		};
	/* 2000::/4, and the last bit of the first 32 is 0 */
	return (struct source6){
		.hi = (random & 0x0ffffffeffffffffULL) | 0x2000000000000000ULL,
		.lo = lo,
	};
}

/* The upper half of a visitor's IPv6 address; an IPv4 one is scattered by itself. */
XB_HASH_INLINE __u64 source_visitor6(__u32 number)
{
	return 0x2001000000000000ULL | (__u64)source_scatter(number, 0) << 16;
}

/* Listed ones that a writer leaves alone, at most; an IPv4 address, or the upper half of an IPv6
 * one. */
#define SOURCE_STABLE 256

#endif
