/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in an exact table, and addresses by where they stand in one. */
#ifndef XB_TESTS_EXACT_CONTENTS_H
#define XB_TESTS_EXACT_CONTENTS_H

#include <stdlib.h>

#include "bloom/exact.h"

static inline int compare_contents(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Every slot, sorted, each as the number of its key, wherever it stands; 0: a free one. To be freed
 * by the caller. */
static inline uint64_t *exact_contents(const struct xb_exact *table, size_t *count)
{
	size_t all = xb_exact_slots(&table->geometry);
	uint32_t buckets = table->geometry.parts * table->geometry.size;
	uint32_t slots = buckets ? (uint32_t)(all / buckets) : 0;
	uint64_t *contents = calloc(all, sizeof(*contents));

	for (size_t i = 0; slots && i < all; i++) {
		struct xb_spot at = {.bucket = (uint32_t)(i / slots)}, spot[2];

		at.value = xb_exact_slot(table, at.bucket, (uint32_t)(i % slots));
		contents[i] = at.value;
		if (!at.value || table->geometry.slot_bits == 64)
			continue;
		xb_exact_spots_at(table, &at, spot);
		contents[i] = (uint64_t)spot[0].bucket << 41 | spot[0].value;
	}
	qsort(contents, all, sizeof(*contents), compare_contents);
	*count = all;
	return contents;
}

static inline uint64_t inverse_of(uint64_t odd)
{
	uint64_t x = odd; /* right in the last three bits; each step doubles them */

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

static inline uint32_t unshifted(uint32_t x)
{
	return x ^ x >> 15 ^ x >> 30;
}

/* The address that xb_permute4() makes this number. Those of a bucket are permuted to numbers in a
 * row. */
static inline uint32_t address_permuted_to(const struct xb_quotient_key *key, uint32_t permuted)
{
	uint32_t x = unshifted(permuted * (uint32_t)inverse_of(key->factor[2]));

	x = unshifted(x * (uint32_t)inverse_of(key->factor[1]));
	return x * (uint32_t)inverse_of(key->factor[0]);
}

/* The hash that xb_quotient_of_hash() makes this word, of which it cuts the quotient. */
static inline uint64_t hash_mixed_to(const struct xb_key *key, uint64_t word)
{
	uint64_t x = word ^ word >> 31 ^ word >> 62;

	x *= inverse_of(0x94d049bb133111ebULL);
	x = (x ^ x >> 27 ^ x >> 54) * inverse_of(0xbf58476d1ce4e5b9ULL);
	return (x ^ x >> 30 ^ x >> 60) - key->b;
}

#endif
