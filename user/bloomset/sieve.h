/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Bloom filter of one run, to tell what cannot be in a set: one line of memory for each key, and
 * a bit in each of some of its words (split blocks: Putze, Sanders, Singler 2009). */
#ifndef XB_BLOOMSET_SIEVE_H
#define XB_BLOOMSET_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bloomset/prefetch.h"

#define SIEVE_WORDS 8 /* 64-bit words of a block, which is a cache line */

struct sieve {
	uint64_t *words;
	uint64_t blocks;
	uint32_t probes;
};

/* What it will be for so many keys in at most so many bytes: blocks and probes, without memory. */
void sieve_shape(struct sieve *sieve, uint64_t keys, uint64_t bytes);
int sieve_open(struct sieve *sieve, uint64_t keys, uint64_t bytes);
void sieve_clear(struct sieve *sieve);
void sieve_close(struct sieve *sieve);

/* The bytes that so many keys are best served with. */
uint64_t sieve_bytes(uint64_t keys);

/* The share of other keys that it lets pass, with so many keys in it. */
double sieve_rate(const struct sieve *sieve, uint64_t keys);

/* How many different keys were put in, judged by the bits that are set (Swamidass, Baldi 2007);
 * INFINITY: so few bits are left that they say nothing. */
double sieve_count(const struct sieve *sieve);

static inline uint64_t *sieve_block(const struct sieve *sieve, uint64_t hash)
{
	return sieve->words + ((hash >> 32) * sieve->blocks >> 32) * SIEVE_WORDS;
}

PREFETCHES sieve_prefetch(const struct sieve *sieve, uint64_t hash)
{
	__builtin_prefetch(sieve_block(sieve, hash), 1);
}

extern const uint32_t sieve_salts[SIEVE_WORDS];

static inline uint64_t sieve_bit(uint64_t hash, uint32_t probe)
{
	return 1ULL << ((uint32_t)hash * sieve_salts[probe] >> 26);
}

static inline bool sieve_has(const struct sieve *sieve, uint64_t hash)
{
	const uint64_t *block = sieve_block(sieve, hash);

	for (uint32_t probe = 0; probe < sieve->probes; probe++)
		if (!(block[probe] & sieve_bit(hash, probe)))
			return false;
	return true;
}

/* Whether it was there before, or seemed to be. */
static inline bool sieve_add(struct sieve *sieve, uint64_t hash)
{
	uint64_t *block = sieve_block(sieve, hash), missing = 0;

	for (uint32_t probe = 0; probe < sieve->probes; probe++) {
		uint64_t bit = sieve_bit(hash, probe);

		missing |= ~block[probe] & bit;
		block[probe] |= bit;
	}
	return !missing;
}

#endif
