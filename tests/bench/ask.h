/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by number: a label of eight letters, so that a program can ask for any of a million. */
#ifndef XB_BENCH_ASK_H
#define XB_BENCH_ASK_H

#include <linux/types.h>

/* The letters of the label, the first in the lowest byte: who it is for, then 28 bits in sevens of
 * four. */
static inline __attribute__((always_inline)) __u64 ask_label(char first, __u32 number)
{
	__u64 spread = number & 0xfffffff;

	spread = (spread | spread << 16) & 0x00000fff0000ffffULL;
	spread = (spread | spread << 8) & 0x000f00ff00ff00ffULL;
	spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0fULL;
	return (spread + 0x6161616161616161ULL) << 8 | (__u8)first;
}

/* A frame that is written anew for each run, since an answer turns it round. */
#define ASK_HEAD  56 /* bytes of it: Ethernet, IPv4, UDP and DNS header, whole words */
#define ASK_FRAME 384
#define ASK_FLAGS 44 /* offset of the DNS flags */

struct ask {
	__u64 head[ASK_HEAD / 8];
	__u32 label;   /* offset of the label that is drawn; 0: none */
	__u32 count;   /* numbers are drawn from 0 to count - 1 */
	__u32 ifindex; /* where it is sent */
	__u8 first;
	__u8 padding[3];
};

#endif
