/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MurmurHash3 with 128 bits for 64-bit machines (Austin Appleby, 2011; in the public domain), seed
 * 0: what Guava calls murmur3_128(). It has no key: for exchange with others only. */
#ifndef XB_BLOOM_MURMUR_H
#define XB_BLOOM_MURMUR_H

#include <stddef.h>
#include <stdint.h>

struct xb_murmur {
	uint64_t low, high;
};

struct xb_murmur xb_murmur128(const void *bytes, size_t size);

#endif
