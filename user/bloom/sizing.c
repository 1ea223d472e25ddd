/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizing by the block-load model; the closed formula that ignores it makes filters too small. */
#include "bloom/sizing.h"

#include <math.h>

#include "base/error.h"
#include "base/text.h"

/* Chance that the probes of one word all find their bits set, after `marks` random marks in it. */
static double word_rate(uint32_t probes, double marks)
{
	double one = pow(63.0 / 64, marks), both;

	if (probes == 1)
		return 1 - one;
	/* Two probes: the same bit once in 64 times, else two different ones. */
	both = 1 - 2 * one + pow(62.0 / 64, marks);
	return (1 - one) / 64 + both * 63 / 64;
}

static double poisson(double keys, double load)
{
	return exp(keys * log(load) - load - lgamma(keys + 1));
}

/* Far enough that the rest of the distribution does not count. */
static double last_of(double load)
{
	return load + 12 * sqrt(load) + 30;
}

double xb_expected_rate(double load, uint32_t probes)
{
	uint32_t each = probes / XB_BLOCK_WORDS;
	double last = last_of(load), rate = 0;

	for (double keys = 0; keys < last; keys++)
		rate += poisson(keys, load) * pow(word_rate(each, keys * each), XB_BLOCK_WORDS);
	return rate;
}

/* The highest load that keeps the rate. */
static double load_for(double rate, uint32_t probes)
{
	double low = 1e-3, high = XB_BLOCK_BITS;

	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (xb_expected_rate(middle, probes) > rate)
			high = middle;
		else
			low = middle;
	}
	return low;
}

int xb_size_bloom(uint64_t keys, double rate, struct xb_geometry *geometry)
{
	double few = load_for(rate, XB_PROBES_FEW), many = load_for(rate, XB_PROBES_MANY);
	/* Eight more probes are worth their instructions when they save a tenth of the memory. */
	uint32_t probes = many > few * 1.1 ? XB_PROBES_MANY : XB_PROBES_FEW;
	double blocks = ceil((double)keys / (probes == XB_PROBES_MANY ? many : few));

	if (blocks < 1)
		blocks = 1;
	if (blocks > UINT32_MAX)
		return xb_input_error(
			"%llu keys at a rate of %s are more than one filter can be addressed for",
			(unsigned long long)keys, XB_NUMBER(rate));
	*geometry = (struct xb_geometry){
		.blocks = (uint32_t)blocks, .probes = probes, .capacity = keys};
	return 0;
}

uint64_t xb_size_headroom(uint64_t keys)
{
	uint64_t part = keys / 64;

	return part > 8192 ? part : 8192;
}

double xb_known_rate(double load)
{
	double last = last_of(load), rate = 0;

	for (double keys = 0; keys < last; keys++)
		rate += poisson(keys, load) *
			pow(1 - pow(1 - 1.0 / XB_KNOWN_HALF, keys), XB_KNOWN_WORDS);
	return 2 * rate - rate * rate;
}

int xb_size_known(uint64_t capacity, double rate, uint32_t *lines)
{
	double low = 1e-3, high = XB_KNOWN_HALF * XB_KNOWN_WORDS, wanted;

	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (xb_known_rate(middle) > rate)
			high = middle;
		else
			low = middle;
	}
	wanted = ceil((double)capacity / low);
	if (wanted > UINT32_MAX)
		return xb_input_error("%llu sources at a rate of %s are more than one filter can "
				      "be addressed for",
				      (unsigned long long)capacity, XB_NUMBER(rate));
	*lines = wanted < 1 ? 1 : (uint32_t)wanted;
	return 0;
}

double xb_known_sources(uint64_t bits, uint64_t lines)
{
	double all = (double)lines * XB_KNOWN_WORDS * XB_KNOWN_HALF;

	/* A full one says only that there were many. */
	if ((double)bits > all - 1)
		bits = (uint64_t)(all - 1);
	return -(double)lines * XB_KNOWN_HALF * log1p(-(double)bits / all);
}
