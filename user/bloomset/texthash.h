/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fast keyed hash of bytes, for tables and partitions of one run: products of 128 bits folded, as
 * in wyhash (Wang Yi 2019). */
#ifndef XB_BLOOMSET_TEXTHASH_H
#define XB_BLOOMSET_TEXTHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "xdp_bloom/hash.h"

static inline uint64_t texthash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t texthash_word(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return word;
}

/* Up to 8 bytes, without reading others. */
static inline uint64_t texthash_rest(const char *text, size_t size)
{
	uint32_t low, high;

	if (size >= 4) {
		memcpy(&low, text, 4);
		memcpy(&high, text + size - 4, 4);
		return (uint64_t)high << 32 | low;
	}
	if (!size)
		return 0;
	return (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[size / 2] << 8 |
	       (uint8_t)text[size - 1];
}

/* key: of this run. */
static inline uint64_t texthash(const struct xb_key *key, const char *text, size_t size)
{
	uint64_t hash = key->a ^ (size * 0x9e3779b97f4a7c15ULL), first, last;

	for (; size > 16; text += 16, size -= 16)
		hash = texthash_fold(texthash_word(text) ^ key->b, texthash_word(text + 8) ^ hash);
	if (size > 8) {
		first = texthash_word(text);
		last = texthash_word(text + size - 8);
	} else {
		first = texthash_rest(text, size);
		last = 0;
	}
	hash = texthash_fold(first ^ key->b, last ^ hash);
	return texthash_fold(hash ^ 0xa0761d6478bd642fULL, key->a | 1);
}

#endif
