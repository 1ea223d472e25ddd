/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan reckons with: the rate of the filter of one run is the one that is measured, also
 * where little memory leaves few bits for a key; and parts that are too large for the memory are
 * written once more. */
#include <math.h>
#include <stdio.h>

#include "bloomset/forecast.h"
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

#define MIB ((uint64_t)1 << 20)

/* The bytes to be written of two files of so many MiB each, in lines of 64 bytes with their ends.
 */
static uint64_t writes(uint64_t size, uint64_t memory, bool most)
{
	struct input inputs[2] = {0};
	struct step steps[2] = {{.input = 0, .action = STEP_KEEP, .from = -1},
				{.input = 1, .action = STEP_KEEP, .from = -1}};
	struct plan plan = {.rule = {RULE_ANY, 0, 2},
			    .memory = memory * MIB,
			    .pool = memory * MIB / 4,
			    .steps = steps,
			    .count = 2};

	for (int i = 0; i < 2; i++) {
		inputs[i].text_bytes = size * MIB;
		inputs[i].text_lines = size * MIB / 64;
	}
	return forecast_writes(&plan, inputs, most) / MIB;
}

TEST(parts_that_are_written_again)
{
	assert_int_equal(writes(1, 16, true), 0);
	assert_int_equal(writes(200, 16, true), 400);
	/* 64 parts of 20 MiB, which take 30 in a table; but 15 if the files are alike. */
	assert_int_equal(writes(640, 16, true), 2560);
	assert_int_equal(writes(640, 16, false), 1280);
	assert_int_equal(writes(640, 64, true), 1280);
	/* Parts of parts that are too large, too. */
	assert_int_equal(writes(100000, 16, true), 600000);
}
