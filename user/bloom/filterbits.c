/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The positions of an element. */
#include "bloom/filterbits.h"

#include <string.h>

#include "bloom/murmur.h"
#include "xdp_bloom/hash.h"

/* SipHash-1-3 of the bytes (xdp_bloom/hash.h), whose last word has the length on top. */
static uint64_t keyed_hash(const struct xb_filter_key *key, const uint8_t *bytes, size_t size)
{
	const struct xb_key secret = {.a = key->a, .b = key->b};
	struct xb_sip sip = xb_sip_begin(&secret);
	uint64_t word;

	for (size_t left = size; left >= 8; left -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		xb_sip_take(&sip, word);
	}
	word = 0;
	if (size % 8)
		memcpy(&word, bytes, size % 8);
	xb_sip_take(&sip, word | (uint64_t)size << 56);
	return xb_sip_end(sip);
}

struct xb_filter_hash xb_filter_hash_of(const struct xb_filter_info *info, const void *element,
					size_t size)
{
	struct xb_murmur murmur;

	if (!xb_filter_is_guava(info->kind))
		return (struct xb_filter_hash){.a = keyed_hash(&info->key, element, size)};
	murmur = xb_murmur128(element, size);
	return (struct xb_filter_hash){.a = murmur.low, .b = murmur.high};
}

/* The hash is the seed of a sequence of SplitMix64, whose numbers are the k hashes (Steele, Lea,
 * Flood, OOPSLA 2014); scaled as by Lemire (ACM TOMACS 2019). */
static uint64_t standard_position(uint64_t hash, uint32_t i, uint64_t bits)
{
	uint64_t word = xb_mix64(hash + (i + 1) * 0x9e3779b97f4a7c15ULL);

	return (uint64_t)((unsigned __int128)word * bits >> 64);
}

static uint64_t blocked_position(const struct xb_filter_info *info, uint64_t hash, uint32_t i)
{
	const struct xb_key key = {.a = info->key.a, .b = info->key.b};
	struct xb_probes probes = xb_probes_of(&key, hash);
	uint64_t block = xb_scale(probes.place, (uint32_t)(info->bits / XB_BLOCK_BITS));

	return block * XB_BLOCK_BITS + i % XB_BLOCK_WORDS * 64 + xb_probe_bit(&probes, i);
}

/* Sums of 32 bits that wrap, and the bits of a negative one flipped. */
static uint64_t guava32_position(uint64_t hash, uint32_t i, uint64_t bits)
{
	uint32_t sum = (uint32_t)hash + (i + 1) * (uint32_t)(hash >> 32);

	return (sum >> 31 ? ~sum : sum) % bits;
}

/* Sums of 64 bits that wrap, without the sign. */
static uint64_t guava64_position(struct xb_filter_hash hash, uint32_t i, uint64_t bits)
{
	return ((hash.a + i * hash.b) & INT64_MAX) % bits;
}

uint64_t xb_filter_position(const struct xb_filter_info *info, struct xb_filter_hash hash,
			    uint32_t i)
{
	switch (info->kind) {
	case XB_FILTER_BLOCKED:
		return blocked_position(info, hash.a, i);
	case XB_FILTER_GUAVA_32:
		return guava32_position(hash.a, i, info->bits);
	case XB_FILTER_GUAVA_64:
		return guava64_position(hash, i, info->bits);
	case XB_FILTER_STANDARD:
		break;
	}
	return standard_position(hash.a, i, info->bits);
}

void xb_filter_prefetch(const struct xb_filter *filter, struct xb_filter_hash hash)
{
	uint32_t lines = filter->info.kind == XB_FILTER_BLOCKED ? 1 : filter->info.hashes;

	for (uint32_t i = 0; i < lines; i++) {
		uint64_t position = xb_filter_position(&filter->info, hash, i);

		__builtin_prefetch(filter->bits + xb_filter_byte(&filter->info, position), 1);
		if (filter->counters)
			__builtin_prefetch(filter->counters + position / 2, 1);
	}
}

bool xb_filter_has_hash(const struct xb_filter *filter, struct xb_filter_hash hash)
{
	for (uint32_t i = 0; i < filter->info.hashes; i++)
		if (!xb_filter_bit_get(filter, xb_filter_position(&filter->info, hash, i)))
			return false;
	return true;
}
