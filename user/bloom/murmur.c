/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words are little endian, as those of the machines we build for. */
#include "bloom/murmur.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they are");

#define FACTOR_LOW  0x87c37b91114253d5ULL
#define FACTOR_HIGH 0x4cf5ad432745937fULL

static uint64_t rotate(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static uint64_t mix_low(uint64_t word)
{
	return rotate(word * FACTOR_LOW, 31) * FACTOR_HIGH;
}

static uint64_t mix_high(uint64_t word)
{
	return rotate(word * FACTOR_HIGH, 33) * FACTOR_LOW;
}

static uint64_t finish(uint64_t word)
{
	word = (word ^ word >> 33) * 0xff51afd7ed558ccdULL;
	word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return word ^ word >> 33;
}

struct xb_murmur xb_murmur128(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t left = size;
	uint64_t low = 0, high = 0, word[2];

	for (; left >= sizeof(word); at += sizeof(word), left -= sizeof(word)) {
		memcpy(word, at, sizeof(word));
		low = (rotate(low ^ mix_low(word[0]), 27) + high) * 5 + 0x52dce729;
		high = (rotate(high ^ mix_high(word[1]), 31) + low) * 5 + 0x38495ab5;
	}
	/* A tail filled up with zeros is the same as none where it ends: zero mixes to zero. */
	memset(word, 0, sizeof(word));
	if (left)
		memcpy(word, at, left);
	low ^= mix_low(word[0]) ^ size;
	high ^= mix_high(word[1]) ^ size;
	low += high;
	high += low;
	low = finish(low);
	high = finish(high);
	low += high;
	return (struct xb_murmur){.low = low, .high = high + low};
}
