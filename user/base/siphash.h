/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-2-4 with 128 bits of output (Aumasson, Bernstein 2012), of bytes that come in parts. */
#ifndef XB_BASE_SIPHASH_H
#define XB_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct xb_siphash {
	uint64_t v0, v1, v2, v3;
	uint64_t size;	 /* bytes taken */
	uint8_t held[8]; /* the last size % 8 of them */
};

/* key: two 64-bit words, the first from the bytes 0 to 7 of the key as its authors write it,
 * little-endian. */
void xb_siphash_begin(struct xb_siphash *hash, const uint64_t key[2]);
void xb_siphash_add(struct xb_siphash *hash, const void *bytes, size_t size);

/* Low half first. Nothing can be added afterwards. */
void xb_siphash_end(struct xb_siphash *hash, uint64_t half[2]);

#endif
