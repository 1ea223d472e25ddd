/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash of IPv6 prefixes: what it is, and that any two hit each other no more often than chance
 * would have it, however they were chosen. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "xdp_bloom/layout.h"

struct prefix {
	uint64_t hi, lo;
	uint32_t tag;
};

static int begin(void **state)
{
	random_begin();
	return 0;
}

static struct xb_key6 draw_key(void)
{
	struct xb_key6 key;
	uint64_t words[sizeof(key) / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = random_wide();
	memcpy(&key, words, sizeof(key));
	return key;
}

static uint64_t hash_of(const struct xb_key6 *key, const struct prefix *prefix)
{
	return xb_hash_ipv6(key, prefix->hi, prefix->lo, prefix->tag);
}

/* By the formula as published, with wide numbers; the second words carry the first ones on top. */
static uint32_t half_of(const struct xb_sum6 *sum, const struct prefix *prefix)
{
	const unsigned __int128 words[4] = {prefix->hi >> 32, prefix->hi, prefix->lo >> 32,
					    prefix->lo};
	unsigned __int128 all = sum->first;

	for (int i = 0; i < 4; i += 2)
		all += (sum->factor[i] + words[i]) % ((unsigned __int128)1 << 64) *
		       ((sum->factor[i + 1] + words[i + 1]) % ((unsigned __int128)1 << 64));
	all += (unsigned __int128)sum->tag_factor * prefix->tag;
	return (uint32_t)((uint64_t)all >> 32);
}

TEST(is_the_formula)
{
	for (int i = 0; i < 1000; i++) {
		struct xb_key6 key = draw_key();
		struct prefix prefix = {random_wide(), random_wide(),
					(uint32_t)random_wide() % 4096};

		assert_int_equal(hash_of(&key, &prefix), (uint64_t)half_of(&key.sum[0], &prefix)
									 << 32 |
								 half_of(&key.sum[1], &prefix));
	}
}

/* As the packet path computes it: the term of the length once, the sums apart. */
TEST(parts_add_up)
{
	for (int i = 0; i < 1000; i++) {
		struct xb_key6 key = draw_key();
		struct prefix prefix = {random_wide(), random_wide(),
					(uint32_t)random_wide() % 129};
		uint64_t sums[2];

		for (int k = 0; k < 2; k++)
			sums[k] = xb_sum6_of(key.sum[k].factor, prefix.hi, prefix.lo,
					     xb_term6(&key.sum[k], prefix.tag));
		assert_int_equal(xb_join6(sums[0], sums[1]), hash_of(&key, &prefix));
	}
}

#define KEYS	(1U << 20)
#define WINDOWS 4 /* of 16 bits, which two prefixes share by chance 16 times */

/* Pairs for which a hash by sums is at its worst: they differ in the top bit of a word alone, or of
 * two, in the length alone, or by nothing but a class. */
static const struct prefix pairs[][2] = {
	{{0x20010db800000000, 0, 32}, {0xa0010db800000000, 0, 32}},
	{{0x20010db800000000, 0, 33}, {0x20010db880000000, 0, 33}},
	{{0x20010db800000000, 0, 65}, {0x20010db800000000, 0x8000000000000000, 65}},
	{{0x20010db800000000, 0, 128}, {0x20010db800000000, 0x80000000, 128}},
	{{0x20010db800000000, 0, 128}, {0x20010db800000000, 1, 128}},
	{{0x20010db800000000, 0, 128}, {0x20010db880000000, 0x80000000, 128}},
	{{0x20010db800000000, 0, 128}, {0xa0010db880000000, 0x8000000080000000, 128}},
	{{0, 1, 128}, {1, 0, 128}},
	{{1ULL << 32, 0, 64}, {1, 0, 64}},
	{{0x20010db800000000, 0, 32}, {0x20010db800000000, 0, 33}},
	{{0x20010db800000000, 0, 64}, {0x20010db800000000, 0, 128}},
	{{0x20010db800000000, 0, 64}, {0x20010db800000000, 0, 1 << 8 | 64}},
	{{0, 0, 0}, {0, 0, 128}},
	{{0, 0, 0}, {~0ULL, ~0ULL, 128}},
};

TEST(no_pair_is_worse_than_chance)
{
	if (is_slowed())
		return;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint32_t same[WINDOWS] = {0};

		for (uint32_t k = 0; k < KEYS; k++) {
			struct xb_key6 key = draw_key();
			uint64_t differ = hash_of(&key, &pairs[i][0]) ^ hash_of(&key, &pairs[i][1]);

			for (int window = 0; window < WINDOWS; window++)
				same[window] += !(differ >> 16 * window & 0xffff);
		}
		printf("pair %zu: %u, %u, %u, %u\n", i, same[0], same[1], same[2], same[3]);
		for (int window = 0; window < WINDOWS; window++)
			assert_in_range(same[window], 1, 50);
	}
}

/* Addresses of each length that begin alike, as one packet asks for them. */
TEST(lengths_of_one_address_differ)
{
	for (int i = 0; i < 100; i++) {
		struct xb_key6 key = draw_key();
		uint64_t seen[129];

		for (uint32_t length = 0; length <= 128; length++) {
			struct prefix prefix = {.tag = length};

			seen[length] = hash_of(&key, &prefix);
			for (uint32_t other = 0; other < length; other++)
				assert_int_not_equal(seen[length], seen[other]);
		}
	}
}

ALL_TESTS(begin, NULL);
