/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the timed programs and the program that times them share. */
#ifndef XB_BENCH_MEASURE_H
#define XB_BENCH_MEASURE_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"

/* Listed addresses: one table of any, one of those next to an allowed prefix. */
#define TABLES 2
#include "table.h"

/* The upper half of all IPv6 sources. */
#define XB_BENCH_NET6 0x20010db800000000ULL

/* A source of IPv6, host byte order. */
struct address6 {
	__u64 hi, lo;
};

/* A cache line of what the shipped filter's bits are compared with. */
struct bare_line {
	__u64 word[8];
};

#define PEER_HASHES 7 /* of the unblocked Bloom filters */

/* The i-th bit of a key in a classic Bloom filter: two hashes give them all (Kirsch, Mitzenmacher,
 * Random Structures and Algorithms 2008). */
XB_HASH_INLINE __u32 classic_bit(__u64 hash, __u32 i, __u32 bits)
{
	return xb_scale((__u32)hash + i * (__u32)(hash >> 32), bits);
}

#endif
