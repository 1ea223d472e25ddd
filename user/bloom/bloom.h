/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Bloom filter whose bits have 4-bit counters behind them, so that keys can be deleted. Only
 * userspace sees the counters. */
#ifndef XB_BLOOM_BLOOM_H
#define XB_BLOOM_BLOOM_H

#include "base/mapping.h"
#include "xdp_bloom/layout.h"

#define XB_COUNTER_STUCK 15

/* Two counters a byte: bit b of a block has the low half of byte b / 2 when b is even. */
struct xb_counters {
	uint8_t byte[XB_BLOCK_BITS / 2];
};

/* The kernel may read the bits at any moment; the counters, and calls of these functions, belong
 * to one writer at a time. */
struct xb_bloom {
	struct xb_geometry geometry;
	struct xb_key key;
	struct xb_mapping bits; /* struct xb_block each */
	struct xb_counters *counters;
};

/* Maps what a change of this key will touch, so that the change itself cannot fail. hash: see
 * xdp_bloom/hash.h. */
int xb_bloom_prepare(struct xb_bloom *filter, uint64_t hash);

/* Counters up, then bits on. A counter that reaches XB_COUNTER_STUCK stays there. */
void xb_bloom_add(struct xb_bloom *filter, uint64_t hash);

/*
 * Counters down, bits off at zero. Only for keys that were added. Returns -EUCLEAN (no message) and
 * changes nothing if a counter says the key cannot have been.
 */
int xb_bloom_delete(struct xb_bloom *filter, uint64_t hash);

bool xb_bloom_contains(struct xb_bloom *filter, uint64_t hash);

/* The block the key falls on. */
uint32_t xb_bloom_block(const struct xb_bloom *filter, uint64_t hash);

/* Asks memory for what a change of a key of this block will touch. GCC removes calls of a function
 * that does nothing else, so it has to be inlined. */
static inline __attribute__((always_inline)) void xb_bloom_fetch(const struct xb_bloom *filter,
								 uint32_t block)
{
	const struct xb_counters *counters = &filter->counters[block];

	__builtin_prefetch(filter->bits.base + block * sizeof(struct xb_block), 1);
	for (size_t line = 0; line < sizeof(*counters); line += 64)
		__builtin_prefetch(&counters->byte[line], 1);
}

/* Adds the keys of blocks first to last - 1, for building with a thread for each range. */
void xb_bloom_build(struct xb_bloom *filter, const uint64_t *hashes, size_t count, uint32_t first,
		    uint32_t last);

#endif
