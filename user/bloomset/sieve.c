/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/sieve.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

#define BLOCK_BYTES  (SIEVE_WORDS * sizeof(uint64_t))
#define BITS_WANTED  12
#define PROBES_LEAST 2
#define WORD_BITS    64.0
#define ZEROS_LEAST  100

/* Odd, so that each is a bijection; those of Parquet's split block filters. */
const uint32_t sieve_salts[SIEVE_WORDS] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
					   0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

static uint64_t bytes_of(const struct sieve *sieve)
{
	return sieve->blocks * BLOCK_BYTES;
}

uint64_t sieve_bytes(uint64_t keys)
{
	return keys / 8 * BITS_WANTED + BLOCK_BYTES;
}

void sieve_shape(struct sieve *sieve, uint64_t keys, uint64_t bytes)
{
	double bits;

	if (bytes > sieve_bytes(keys))
		bytes = sieve_bytes(keys);
	sieve->blocks = (bytes / BLOCK_BYTES) ?: 1;
	if (sieve->blocks > UINT32_MAX)
		sieve->blocks = UINT32_MAX;
	bits = (double)bytes_of(sieve) * 8 / (double)(keys ?: 1);
	sieve->probes = (uint32_t)(bits * M_LN2 + 0.5);
	if (sieve->probes < PROBES_LEAST)
		sieve->probes = PROBES_LEAST;
	if (sieve->probes > SIEVE_WORDS)
		sieve->probes = SIEVE_WORDS;
}

int sieve_open(struct sieve *sieve, uint64_t keys, uint64_t bytes)
{
	sieve_shape(sieve, keys, bytes);
	sieve->words = mmap(NULL, bytes_of(sieve), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sieve->words == MAP_FAILED) {
		sieve->words = NULL;
		return xb_out_of_memory();
	}
	madvise(sieve->words, bytes_of(sieve), MADV_HUGEPAGE);
	return 0;
}

void sieve_clear(struct sieve *sieve)
{
	memset(sieve->words, 0, bytes_of(sieve));
}

void sieve_close(struct sieve *sieve)
{
	if (sieve->words)
		munmap(sieve->words, bytes_of(sieve));
	sieve->words = NULL;
}

/* Each probe asks a word of its own, in which each key of the block has a bit. How many keys a
 * block has is Poisson distributed; further off than the last, there are too few to count. */
double sieve_rate(const struct sieve *sieve, uint64_t keys)
{
	double load = (double)keys / (double)sieve->blocks, rate = 0;
	double last = load + 12 * sqrt(load) + 30;

	if (!keys)
		return 0;
	for (double here = 0; here < last; here++)
		rate += exp(here * log(load) - load - lgamma(here + 1)) *
			pow(1 - pow(1 - 1 / WORD_BITS, here), sieve->probes);
	return rate;
}

/* Each key has a bit in each of the first words of a block, so a word has as many keys as the
 * block. Their number is Poisson distributed: the share of zeros of a bit is exp(-load / 64). */
double sieve_count(const struct sieve *sieve)
{
	uint64_t set = 0;
	double all = (double)sieve->blocks * sieve->probes * WORD_BITS;

	for (uint64_t block = 0; block < sieve->blocks; block++)
		for (uint32_t probe = 0; probe < sieve->probes; probe++)
			set += (uint64_t)__builtin_popcountll(
				sieve->words[block * SIEVE_WORDS + probe]);
	/* Within a hundredth: the number of zeros has a deviation of its root, and its logarithm is
	 * taken. */
	if (all - (double)set < ZEROS_LEAST)
		return INFINITY;
	return -WORD_BITS * (double)sieve->blocks * log1p(-(double)set / all);
}
