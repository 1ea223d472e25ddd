/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bits and bytes of words. */
#ifndef XDP_BLOOM_BITS_H
#define XDP_BLOOM_BITS_H

#include <stdbool.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/* The number of the lowest set bit of x (not 0). A de Bruijn sequence (Leiserson, Prokop,
 * Randall, 1998): BPF has no ctz. */
static __always_inline __u32 lowest_bit(__u64 x)
{
	static const __u8 position[64] = {
		0,  1,	56, 2,	57, 49, 28, 3,	61, 58, 42, 50, 38, 29, 17, 4,
		62, 47, 59, 36, 45, 43, 51, 22, 53, 39, 33, 30, 24, 18, 12, 5,
		63, 55, 48, 27, 60, 41, 37, 16, 46, 35, 44, 21, 52, 32, 23, 11,
		54, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,	13, 8,	7,  6,
	};

	return position[((x & -x) * 0x03f79d71b4ca8b09ULL) >> 58];
}

/* value >> by % 64. The shift of BPF uses only these bits of `by`; written in C, the modulo would
 * take one more instruction. */
static __always_inline __u64 shifted(__u64 value, __u64 by)
{
	asm("%0 >>= %1" : "+r"(value) : "r"(by));
	return value;
}

/* Whether at most one bit is set. Unless it is kept from that, clang counts the bits, in some 20
 * instructions. */
static __always_inline bool is_single(__u64 bits)
{
	__u64 less = bits - 1;

	asm("" : "+r"(less));
	return !(bits & less);
}

#define EACH_BYTE(value) (0x0101010101010101ULL * (value))

/* Of the lowest byte that is 0 (less than `than`, at most 0x80) the top bit is set; what is above
 * may be wrong (Hacker's Delight, 6-1). */
static __always_inline __u64 bytes_zero(__u64 bytes)
{
	return (bytes - EACH_BYTE(1)) & ~bytes & EACH_BYTE(0x80);
}

static __always_inline __u64 bytes_less(__u64 bytes, __u8 than)
{
	return (bytes - EACH_BYTE(than)) & ~bytes & EACH_BYTE(0x80);
}

/* Sets the top bit of each byte that has the value, and no other bit. */
static __always_inline __u64 bytes_equal(__u64 bytes, __u8 value)
{
	__u64 x = bytes ^ EACH_BYTE(value);

	return ~(((x & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | x | EACH_BYTE(0x7f));
}

/* The number of the lowest byte marked, from 0. */
static __always_inline __u32 lowest_byte(__u64 marked)
{
	return lowest_bit(marked) >> 3;
}

/*
 * The value, limited to low..high, both below 2^31. Use it for the size that a helper reads or
 * writes, right before the call: the verifier of Linux 6.1 forgets the bounds of values that the
 * compiler keeps on the stack, learns none from "not 0" (hence the sign), and does not understand
 * two comparisons that the compiler joins.
 */
static __always_inline __u32 bounded(__u32 value, __u32 low, __u32 high)
{
	asm volatile("" : "+r"(value));
	if (value > high)
		value = high;
	asm volatile("" : "+r"(value));
	if ((__s32)value < (__s32)low)
		value = low;
	return value;
}

#endif
