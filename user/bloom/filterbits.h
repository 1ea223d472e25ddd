/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A filter for programs (xdp_bloom/bloom.h) inside: where its bits lie, and which are an element's.
 */
#ifndef XB_BLOOM_FILTERBITS_H
#define XB_BLOOM_FILTERBITS_H

#include "bloom/fingerprints.h"
#include "xdp_bloom/bloom.h"
#include "xdp_bloom/layout.h"

#define XB_FILTER_HASHES_MAX 255
/* 2^47 bits are 16 TiB, more than any machine maps; Guava's arrays have at most 2^31 - 1 words. */
#define XB_FILTER_BITS_MAX (1ULL << 47)
#define XB_GUAVA_WORDS_MAX 0x7fffffffULL

#define XB_FILTER_COUNTER_STUCK 15

struct xb_filter {
	struct xb_filter_info info;	     /* but for what is counted when asked */
	uint8_t *bits;			     /* whole words of 8 bytes */
	uint8_t *counters;		     /* half a byte each; NULL: none */
	struct xb_fingerprints fingerprints; /* of what is in, if it counts */
	uint8_t *base;			     /* what is mapped */
	size_t mapped;
};

static inline bool xb_filter_is_guava(enum xb_filter_kind kind)
{
	return kind == XB_FILTER_GUAVA_32 || kind == XB_FILTER_GUAVA_64;
}

static inline uint64_t xb_filter_words(uint64_t bits)
{
	return (bits + 63) / 64;
}

/* Bytes of the bits, or of the counters behind them, which are half a byte each. */
static inline uint64_t xb_filter_bits_bytes(const struct xb_filter_info *info)
{
	return xb_filter_words(info->bits) * 8;
}

static inline uint64_t xb_filter_counters_bytes(const struct xb_filter_info *info)
{
	return info->counting ? xb_filter_words(info->bits) * 32 : 0;
}

/* Guava's words are big endian, in memory as in the file. */
static inline uint64_t xb_filter_byte(const struct xb_filter_info *info, uint64_t position)
{
	return xb_filter_is_guava(info->kind) ? position / 8 ^ 7 : position / 8;
}

static inline bool xb_filter_bit_get(const struct xb_filter *filter, uint64_t position)
{
	return filter->bits[xb_filter_byte(&filter->info, position)] >> (position & 7) & 1;
}

/* From which the positions of an element follow. */
struct xb_filter_hash {
	uint64_t a, b;
};

struct xb_filter_hash xb_filter_hash_of(const struct xb_filter_info *info, const void *element,
					size_t size);

/* Brings what an element needs into the cache. */
void xb_filter_prefetch(const struct xb_filter *filter, struct xb_filter_hash hash);

int xb_filter_put_hash(struct xb_filter *filter, struct xb_filter_hash hash);
int xb_filter_del_hash(struct xb_filter *filter, struct xb_filter_hash hash);
bool xb_filter_has_hash(const struct xb_filter *filter, struct xb_filter_hash hash);

/* Position number i of an element, 0 to m - 1. */
uint64_t xb_filter_position(const struct xb_filter_info *info, struct xb_filter_hash hash,
			    uint32_t i);

/* What of the sizes is wrong, as an input error. */
int xb_filter_check(const struct xb_filter_info *info);

/* An empty filter of these sizes, in memory of its own. */
int xb_filter_allocate(const struct xb_filter_info *info, struct xb_filter **filter);

#endif
