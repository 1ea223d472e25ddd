/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame whose source is fresh each time it leaves. */
#ifndef XB_BENCH_FLOOD_H
#define XB_BENCH_FLOOD_H

#include <linux/types.h>

/* What is written anew for each run, since frames are used again: the smallest frame as a whole. */
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
