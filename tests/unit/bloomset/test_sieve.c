/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of one run: the rate that a plan reckons with is the one that is measured, also where
 * little memory leaves few bits for a key. */
#include <math.h>
#include <stdio.h>

#include "bloomset/sieve.h"
#include "bloomset/texthash.h"
#include "support/cmocka.h"

#define KEYS	200000
#define STRANGE 1000000

static const struct xb_key key = {0x1234, 0x5678};

static uint64_t hash_of(uint32_t number)
{
	return texthash(&key, (const char *)&number, sizeof(number));
}

static double measured(const struct sieve *sieve)
{
	uint64_t found = 0;

	for (uint32_t i = KEYS; i < KEYS + STRANGE; i++)
		found += sieve_has(sieve, hash_of(i));
	return (double)found / STRANGE;
}

TEST(a_rate_as_measured)
{
	static const unsigned int bits[] = {1, 2, 3, 5, 8, 12};
	struct sieve sieve;

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		double rate, found;

		assert_int_equal(sieve_open(&sieve, KEYS, KEYS / 8 * bits[i]), 0);
		assert_true(sieve_rate(&sieve, 0) <= 0);
		for (uint32_t j = 0; j < KEYS; j++)
			sieve_add(&sieve, hash_of(j));
		rate = sieve_rate(&sieve, KEYS);
		found = measured(&sieve);
		printf("%u bits a key, %u probes: %.5f expected, %.5f measured\n", bits[i],
		       sieve.probes, rate, found);
		assert_true(found > rate * 0.93 && found < rate * 1.07);
		sieve_close(&sieve);
	}
}

/* The count by the bits that are set is right, or there is none: never a wrong one. */
TEST(a_count_or_none)
{
	struct sieve sieve;
	uint32_t put = 0;

	assert_int_equal(sieve_open(&sieve, 5000, 1 << 20), 0);
	sieve.probes = SIEVE_WORDS;
	assert_true(sieve_count(&sieve) < 0.5);
	for (uint32_t keys = 5000; keys < KEYS; keys += keys / 2) {
		double count;

		for (; put < keys; put++)
			sieve_add(&sieve, hash_of(put));
		count = sieve_count(&sieve);
		assert_true(isinf(count) ? keys > 40000
					 : count > keys * 0.93 && count < keys * 1.07);
	}
	assert_true(isinf(sieve_count(&sieve)));
	sieve_close(&sieve);
}
