/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bits of a filter say of it, and the formulas behind that. */
#include "bloom/filterbits.h"

#include <math.h>
#include <string.h>

static uint64_t word_at(const struct xb_filter *filter, uint64_t number)
{
	uint64_t word;

	memcpy(&word, filter->bits + number * 8, sizeof(word));
	return word;
}

static uint64_t count_bits(const struct xb_filter *filter)
{
	uint64_t words = xb_filter_words(filter->info.bits), set = 0;

	for (uint64_t i = 0; i < words; i++)
		set += (uint64_t)__builtin_popcountll(word_at(filter, i));
	return set;
}

/* Sums of 32 bits without a sign choose from the first 2^31 bits alone. */
static double bits_in_use(const struct xb_filter_info *info)
{
	return info->kind == XB_FILTER_GUAVA_32 ? fmin((double)info->bits, 0x1p31)
						: (double)info->bits;
}

double xb_filter_rate_of(double elements, double bits, uint32_t hashes)
{
	return pow(-expm1(hashes * elements * log1p(-1 / bits)), hashes);
}

double xb_filter_bits_for(double elements, double rate, uint32_t hashes)
{
	return ceil(-(double)hashes * elements / log1p(-pow(rate, 1.0 / hashes)));
}

uint32_t xb_filter_hashes_for(double rate)
{
	double best = -log2(rate);
	uint32_t low = best < 1 ? 1 : best > 254 ? 254 : (uint32_t)best;

	return -(double)low / log1p(-pow(rate, 1.0 / low)) <
			       -(double)(low + 1) / log1p(-pow(rate, 1.0 / (low + 1)))
		       ? low
		       : low + 1;
}

/* A probe has a word of its own, or two share one: a stranger's hit all of these words. */
static double blocked_rate(const struct xb_filter *filter)
{
	uint64_t blocks = filter->info.bits / XB_BLOCK_BITS;
	double sum = 0;

	for (uint64_t block = 0; block < blocks; block++) {
		double rate = 1;

		for (uint64_t i = 0; i < XB_BLOCK_WORDS; i++)
			rate *= __builtin_popcountll(word_at(filter, block * XB_BLOCK_WORDS + i)) /
				64.0;
		sum += filter->info.hashes == XB_PROBES_MANY ? rate * rate : rate;
	}
	return sum / (double)blocks;
}

static double fill_of(const struct xb_filter *filter)
{
	return (double)count_bits(filter) / bits_in_use(&filter->info);
}

/*
 * Of a blocked filter, a key leaves a bit unset with the chance (63/64)^(k/8) within its block, and
 * a block has a number of keys that is Poisson distributed with the mean L: unset are
 * e^(-L (1 - (63/64)^(k/8))) of all bits.
 */
static double count_of(const struct xb_filter *filter, double fill)
{
	const struct xb_filter_info *info = &filter->info;
	uint64_t blocks = info->bits / XB_BLOCK_BITS;
	uint32_t each = info->hashes / XB_BLOCK_WORDS;

	if (info->kind == XB_FILTER_BLOCKED)
		return -log1p(-fill) / (1 - pow(63.0 / 64, each)) * (double)blocks;
	return -log1p(-fill) * bits_in_use(info) / info->hashes;
}

uint64_t xb_filter_approximate_count(const struct xb_filter *filter)
{
	double fill = fill_of(filter);

	return fill < 1 ? (uint64_t)(count_of(filter, fill) + 0.5) : UINT64_MAX;
}

double xb_filter_expected_rate(const struct xb_filter *filter)
{
	return filter->info.kind == XB_FILTER_BLOCKED ? blocked_rate(filter)
						      : pow(fill_of(filter), filter->info.hashes);
}

static uint64_t count_stuck(const struct xb_filter *filter)
{
	uint64_t stuck = 0;

	for (uint64_t i = 0; i < xb_filter_counters_bytes(&filter->info); i++)
		stuck += (filter->counters[i] >> 4 == XB_FILTER_COUNTER_STUCK) +
			 ((filter->counters[i] & 15) == XB_FILTER_COUNTER_STUCK);
	return stuck;
}

struct xb_filter_info xb_filter_inspect(const struct xb_filter *filter)
{
	struct xb_filter_info info = filter->info;

	info.set_bits = count_bits(filter);
	info.stuck = count_stuck(filter);
	info.bytes = xb_filter_bits_bytes(&info) + xb_filter_counters_bytes(&info) +
		     filter->fingerprints.slots * 8;
	return info;
}
