/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the storm sends: kinds of frames, told apart at the receiver by a byte the filter does not
 * look at. */
#ifndef XB_TESTS_STORM_H
#define XB_TESTS_STORM_H

#include "../support/source.h"

enum storm_kind {
	STORM_HOST4,   /* from a listed address */
	STORM_PREFIX4, /* from within a listed /20 */
	STORM_NET6,    /* from within a listed /32 or /64 */
	STORM_SCOPED4, /* from an address that is listed for a port, to this port */
	STORM_SCOPED6, /* from within such a /64, to this port */
	STORM_NAME,    /* a query for a name that is listed at times, from nobody listed */
	STORM_CLEAN4,  /* from nobody listed, as are the rest */
	STORM_CLEAN6,
	STORM_CLEAN_NAME, /* a query for a name that never is */
	STORM_OTHER4,	  /* from an address that is listed for a port, to another one */
	STORM_ALLOWED,	  /* from what is listed and allowed */
	STORM_KINDS,
};

#define STORM_HOSTS    30000
#define STORM_PREFIXES 64
#define STORM_NETS6    600 /* of each length, and for the port */
#define STORM_SCOPED   10000
#define STORM_PORT     25	  /* that they are listed for; UDP */
#define STORM_ALLOWED4 0xcb007100 /* 203.0.113.0/24 */

#define STORM_FRAME 96 /* bytes */
struct storm_frame {
	__u64 word[STORM_FRAME / 8];
};

#define STORM_KIND_AT 11 /* the last byte of the sender's hardware address */
#define STORM_SOURCE4 26
#define STORM_SOURCE6 22

/* Set in what is listed for all packets, not set in what is listed for the port. */
#define STORM_ALL4 0x80000000

XB_HASH_INLINE __u32 storm_host4(__u32 number, __u32 seed)
{
	return source_unmarked4(number % STORM_HOSTS, seed) | SOURCE_MARK4 | STORM_ALL4;
}

XB_HASH_INLINE __u32 storm_prefix4(__u32 number, __u32 seed)
{
	return (source_unmarked4(STORM_HOSTS + number % STORM_PREFIXES, seed) | SOURCE_MARK4 |
		STORM_ALL4) &
	       0xfffff000;
}

XB_HASH_INLINE __u32 storm_scoped4(__u32 number, __u32 seed)
{
	return (source_unmarked4(number % STORM_SCOPED, seed) | SOURCE_MARK4) & ~STORM_ALL4;
}

/* The upper half. Even numbers: a /32, odd ones: a /64 below a block that is not listed. */
XB_HASH_INLINE __u64 storm_net6(__u32 number)
{
	__u64 own = number / 2 % STORM_NETS6;

	return number & 1 ? SOURCE_BLOCK6(own) | SOURCE_MARK6 | own
			  : SOURCE_BLOCK6(SOURCE_BLOCKS + own);
}

/* The upper half of a /64, in a block that has nothing else. */
XB_HASH_INLINE __u64 storm_scoped6(__u32 number)
{
	__u64 own = number % STORM_NETS6;

	return SOURCE_BLOCK6(2 * SOURCE_BLOCKS + own) | SOURCE_MARK6 | own;
}

#endif
