/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs in the kernel that make packets, or are timed, share with those that start them. */
#ifndef XB_BENCH_SHARED_H
#define XB_BENCH_SHARED_H

#include <linux/types.h>
#include "xdp_bloom/hash.h"

/* Tables of sources in random order, one behind the other: IPv4 addresses in host byte order, or
 * IPv6 addresses of TABLE_WORDS6 words in network byte order. */
#define TABLE_LINES	 (1024 * 64)
#define TABLE_LINE	 16
#define TABLE_ADDRESSES	 (TABLE_LINES * TABLE_LINE)
#define TABLE_WORDS6	 4
#define TABLE_LINE6	 (TABLE_LINE / TABLE_WORDS6)
#define TABLE_ADDRESSES6 (TABLE_LINES * TABLE_LINE6)

struct table_line {
	__u32 address[TABLE_LINE];
};

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

/* Names by number: a label of eight letters, so that a program can ask for any of a million. The
 * first letter, in the lowest byte, says who it is for; then come 28 bits in sevens of four. */
static inline __attribute__((always_inline)) __u64 ask_label(char first, __u32 number)
{
	__u64 spread = number & 0xfffffff;

	spread = (spread | spread << 16) & 0x00000fff0000ffffULL;
	spread = (spread | spread << 8) & 0x000f00ff00ff00ffULL;
	spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0fULL;
	return (spread + 0x6161616161616161ULL) << 8 | (__u8)first;
}

/* A frame with a question. Its head is written anew for each run, since an answer turns it round.
 */
#define ASK_HEAD  56 /* bytes: Ethernet, IPv4, UDP and DNS header, whole words */
#define ASK_FLAGS 44 /* offset of the DNS flags */

struct ask {
	__u64 head[ASK_HEAD / 8];
	__u32 label;   /* offset of the label that is drawn; 0: none */
	__u32 count;   /* numbers are drawn from 0 to count - 1 */
	__u32 ifindex; /* where it is sent */
	__u8 first;
	__u8 padding[3];
};

/* A frame whose source is fresh each time it leaves. What is written anew for each run, since
 * frames are used again: the smallest frame as a whole. */
#define FLOOD_HEAD    64
#define FLOOD_SUM4    24 /* offset of the IPv4 header checksum */
#define FLOOD_SOURCE4 26
#define FLOOD_SOURCE6 22

struct flood {
	__u64 head[FLOOD_HEAD / 8];
	__u32 sum;     /* IPv4: of the header with no source, not complemented */
	__u32 ifindex; /* where it is sent */
	__u32 family;  /* 4, 6 */
};

#endif
