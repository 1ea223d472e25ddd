/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as quotients: no two of them are taken for each other, and lists of any kind spread.
 * Prefixes: how many hashes are taken for each other, and that the Bloom filter tells them apart.
 */
#include "bloom/bloom.h"
#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/confirm_table.h"

#define WINDOW 200000 /* addresses that are permuted to numbers in a row */

/* The fewest buckets for each width of slots, in one part and in several, and many more. */
static const struct xb_buckets geometries[] = {
	{1, 131077, 16, 0}, {37, 3543, 16, 0},	{97, 4096, 16, 0}, {1000, 5001, 16, 0},
	{1, 4097, 21, 0},   {38, 4177, 16, 1},	{3, 1366, 21, 0},  {12, 4099, 21, 0},
	{1, 3, 32, 0},	    {1, 700, 32, 0},	{5, 4100, 32, 0},  {1, 4096, 32, 0},
	{2, 2049, 21, 0},   {900, 4321, 21, 0},
};
#define GEOMETRIES (sizeof(geometries) / sizeof(geometries[0]))

/* Of prefixes: the smallest, for a thousand, a million, and a hundred million. */
static const struct xb_buckets of_prefixes[] = {
	{1, 2, 42, 0}, {1, 960, 42, 0}, {25, 4232, 42, 0}, {2583, 4096, 42, 0}};
#define OF_PREFIXES (sizeof(of_prefixes) / sizeof(of_prefixes[0]))

static struct xb_quotient quotient_of(const struct xb_quotient_key *key, uint32_t address,
				      const struct xb_buckets *geometry)
{
	return xb_quotient_of(key, address, geometry->parts, geometry->size, geometry->slot_bits);
}

/* Bucket and remainder as one number, whose order is that of both. */
static uint64_t rank_of(const struct xb_quotient *quotient)
{
	return (uint64_t)(quotient->start + quotient->home) << 41 | quotient->remainder;
}

TEST(no_two_addresses_are_the_same)
{
	for (size_t i = 0; i < GEOMETRIES * amount(2, 20); i++) {
		const struct xb_buckets *geometry = &geometries[i % GEOMETRIES];
		const struct xb_quotient_key key = new_key4();
		uint32_t first = i < GEOMETRIES ? (uint32_t)-WINDOW : (uint32_t)next_random();
		uint64_t last = 0;

		if (first > (uint32_t)-WINDOW)
			first = 0;
		assert_true(xb_exact_is_sound(geometry, XB_SLOTS_ADDRESS));
		for (uint32_t at = 0; at < WINDOW; at++) {
			uint32_t address = address_permuted_to(&key, first + at);
			struct xb_quotient quotient = quotient_of(&key, address, geometry);

			assert_int_equal(xb_permute4(&key, address), first + at);
			assert_true(rank_of(&quotient) > last);
			assert_true(quotient.home < geometry->size);
			assert_true(quotient.start % geometry->size == 0 &&
				    quotient.start / geometry->size < geometry->parts);
			assert_in_range(quotient.remainder, 1, xb_slot_most(geometry->slot_bits));
			last = rank_of(&quotient);
		}
	}
}

/* With one bucket less than is asked for, some two addresses of a bucket have one remainder: it has
 * 2^20 of them in the second case, and one remainder less. */
TEST(fewer_buckets_do_not_suffice)
{
	static const struct xb_buckets few[] = {
		{1, 131076, 16, 0}, {1, 4096, 21, 0}, {1, 2, 32, 0}};
	const struct xb_quotient_key key = new_key4();
	uint32_t same = 0;
	uint64_t last = 0;

	for (uint32_t at = 0; at < 1U << 20; at++) {
		struct xb_quotient quotient =
			quotient_of(&key, address_permuted_to(&key, at), &few[1]);

		same += rank_of(&quotient) == last;
		last = rank_of(&quotient);
	}
	assert_int_equal(same, 1);
	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		assert_false(xb_exact_is_sound(&few[i], XB_SLOTS_ADDRESS));
		assert_false(xb_exact_is_sound(&few[i], XB_SLOTS_HASH));
	}
	assert_true(xb_exact_is_sound(&(struct xb_buckets){0}, XB_SLOTS_ADDRESS));
	assert_true(xb_exact_is_sound(&(struct xb_buckets){1, 131077, 16, 1}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 131076, 16, 1}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 4097, 21, 1}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 4097, 42, 1}, XB_SLOTS_PREFIX));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){0, 0, 0, 1}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 0, 32, 0}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 64, 0}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 0, 0}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 32, 0}, XB_SLOTS_NAME));
	assert_true(xb_exact_is_sound(&(struct xb_buckets){1, 1, 64, 0}, XB_SLOTS_NAME));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){65536, 65536, 64, 0}, XB_SLOTS_HASH));
	assert_false(
		xb_exact_is_sound(&(struct xb_buckets){1, 3000000000U, 32, 0}, XB_SLOTS_ADDRESS));
}

/* Of a hash that is mixed to this word. */
static struct xb_quotient quotient_of_word(uint64_t word, const struct xb_buckets *geometry)
{
	const struct xb_key key = {next_random(), next_random()};

	return xb_quotient_of_hash(&key, hash_mixed_to(&key, word), geometry->parts,
				   geometry->size);
}

/* Upper halves in a row, and one lower half: those of one quotient are neighbours, and no more of
 * them than the bound has it that quotient.h tells. */
TEST(few_hashes_have_the_same_quotient)
{
	for (size_t i = 0; i < OF_PREFIXES * amount(2, 20); i++) {
		const struct xb_buckets *geometry = &of_prefixes[i % OF_PREFIXES];
		uint32_t buckets = geometry->parts * geometry->size,
			 first = (uint32_t)next_random(), lower = (uint32_t)next_random();
		uint64_t most = (1ULL << 32) / (511ULL * buckets) + 1, same = 0, kinds = 0;
		struct xb_quotient last = {0};

		first = i < OF_PREFIXES ? (uint32_t)-WINDOW : first < (uint32_t)-WINDOW ? first : 0;
		for (uint32_t at = 0; at < WINDOW; at++) {
			struct xb_quotient quotient =
				quotient_of_word((uint64_t)(first + at) << 32 | lower, geometry);
			bool new = memcmp(&quotient, &last, sizeof(last)) != 0;

			assert_true(rank_of(&quotient) >= rank_of(&last));
			assert_true(quotient.home < geometry->size &&
				    quotient.start % geometry->size == 0 &&
				    quotient.start / geometry->size < geometry->parts);
			assert_in_range(quotient.remainder, 1ULL << 32, (1ULL << 41) - 1);
			assert_int_equal((uint32_t)quotient.remainder, lower);
			same = new ? 1 : same + 1;
			kinds += new;
			last = quotient;
			assert_true(same <= most);
		}
		assert_true(kinds >= WINDOW / most);
	}
}

#define LISTED 50000
#define RATE   1e-2

/*
 * What is taken for a listed prefix has the quotient of one, and hits the Bloom filter. Of all that
 * have a quotient, but for the listed one itself, no more hit than of any others.
 */
TEST(the_filter_tells_apart_what_the_table_does_not)
{
	struct xb_exact table = make(xb_size_exact(LISTED, XB_SLOTS_PREFIX));
	struct xb_bloom filter = {.key = table.key};
	uint64_t *hashes = calloc(LISTED, sizeof(*hashes)), asked = 0, hits = 0, bytes;

	assert_int_equal(xb_size_bloom(LISTED, RATE, &filter.geometry), 0);
	bytes = filter.geometry.blocks * sizeof(struct xb_block);
	filter.bits = (struct xb_mapping){.base = calloc(1, bytes), .size = bytes};
	filter.counters = calloc(filter.geometry.blocks, sizeof(*filter.counters));
	for (size_t i = 0; i < LISTED; i++) {
		hashes[i] = next_random();
		assert_int_equal(xb_exact_add(&table, hashes[i], 0), 0);
	}
	xb_bloom_build(&filter, hashes, LISTED, 0, filter.geometry.blocks);
	for (size_t i = 0; i < LISTED; i++) {
		uint64_t word = xb_mix64(hashes[i] + table.key.b);

		for (uint32_t tries = 0; tries < amount(8, 64); tries++) {
			uint64_t other = 1 + next_random() % 1023;
			uint64_t hash = hash_mixed_to(&table.key, word ^ other << 32);

			if (!xb_exact_contains(&table, hash, 0))
				continue;
			asked++;
			hits += xb_bloom_contains(&filter, hash);
		}
	}
	printf("%lu with the quotient of a listed one, %lu hit\n", asked, hits);
	assert_true(is_slowed() || asked > 2 * LISTED);
	assert_true(is_slowed() || (double)hits < 1.1 * RATE * (double)asked);
	free(filter.bits.base);
	free(filter.counters);
	free(hashes);
	discard(&table);
}

static struct xb_quotient any_quotient(const struct xb_quotient_key *key,
				       const struct xb_buckets *geometry)
{
	return geometry->slot_bits == XB_SLOT_PREFIX
		       ? quotient_of_word(next_random(), geometry)
		       : quotient_of(key, (uint32_t)next_random(), geometry);
}

TEST(either_place_tells_the_other)
{
	for (size_t i = 0; i < GEOMETRIES + OF_PREFIXES; i++) {
		const struct xb_buckets *geometry =
			i < GEOMETRIES ? &geometries[i] : &of_prefixes[i - GEOMETRIES];
		const struct xb_quotient_key key = new_key4();

		for (int j = 0; j < 20000; j++) {
			struct xb_quotient quotient = any_quotient(&key, geometry);
			struct xb_spot spot[2] = {xb_quotient_first(&quotient),
						  xb_quotient_second(&key, &quotient,
								     geometry->size,
								     geometry->slot_bits)};

			assert_int_not_equal(spot[0].bucket, spot[1].bucket);
			assert_int_equal(spot[0].bucket / geometry->size,
					 spot[1].bucket / geometry->size);
			for (int which = 0; which < 2; which++) {
				struct xb_quotient told = xb_quotient_at(
					&key, &spot[which], geometry->size, geometry->slot_bits);

				assert_in_range(spot[which].value, 1,
						(1ULL << geometry->slot_bits) - 1);
				assert_memory_equal(&told, &quotient, sizeof(told));
			}
		}
	}
}

/* How much more the numbers of keys in buckets scatter than those of random keys would. */
static double scatter(const uint16_t *load, const struct xb_buckets *geometry, size_t count)
{
	uint32_t buckets = geometry->parts * geometry->size;
	double mean = (double)count / buckets, sum = 0;

	for (uint32_t i = 0; i < buckets; i++)
		sum += (load[i] - mean) * (load[i] - mean);
	return sum / (mean * buckets);
}

#define BUCKETS_MAX 16384

/* Keys that have a bucket for their first one, and for their second. */
typedef uint16_t load_of_buckets[2][BUCKETS_MAX];

static void put(load_of_buckets load, const struct xb_quotient_key *key,
		const struct xb_buckets *geometry, struct xb_quotient quotient)
{
	load[0][xb_quotient_first(&quotient).bucket]++;
	load[1][xb_quotient_second(key, &quotient, geometry->size, geometry->slot_bits).bucket]++;
}

static void take_scatter(load_of_buckets load, const struct xb_buckets *geometry, size_t count,
			 double sum[2], double *worst)
{
	for (int which = 0; which < 2; which++) {
		double found = scatter(load[which], geometry, count);

		sum[which] += found;
		*worst = found > *worst ? found : *worst;
	}
}

/* Addresses at equal distances, for both places. The bound is of the mean over keys: single keys
 * may be unlucky, and cost a second line then. */
TEST(regular_lists_spread)
{
	static const uint32_t distances[] = {1,	  2,	3,    16,    255,   256,
					     257, 1000, 4096, 65536, 65537, 1 << 20};
	const uint32_t keys = amount(100, 1000);
	static load_of_buckets load;

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		const struct xb_buckets geometry = xb_size_exact(100000, XB_SLOTS_ADDRESS);
		uint64_t all = (1ULL << 32) / distances[i], count = all < 100000 ? all : 100000;
		double sum[2] = {0}, worst = 0;

		assert_true(geometry.parts * geometry.size <= BUCKETS_MAX);
		for (uint32_t j = 0; j < keys; j++) {
			const struct xb_quotient_key key = new_key4();
			uint32_t first = (uint32_t)next_random();

			memset(&load, 0, sizeof(load));
			for (uint32_t at = 0; at < count; at++)
				put(load, &key, &geometry,
				    quotient_of(&key, first + at * distances[i], &geometry));
			take_scatter(load, &geometry, count, sum, &worst);
		}
		printf("distance %u: %.3f and %.3f of chance, at most %.2f\n", distances[i],
		       sum[0] / keys, sum[1] / keys, worst);
		assert_true(sum[0] / keys < 1.1 && sum[1] / keys < 1.1);
	}
}

static struct xb_key6 new_key6(void)
{
	uint64_t words[sizeof(struct xb_key6) / sizeof(uint64_t)] = {0};
	struct xb_key6 key;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = next_random();
	memcpy(&key, words, sizeof(key));
	return key;
}

/* The same of prefixes, by the hash that they have. */
TEST(regular_prefixes_spread)
{
	static const struct {
		uint64_t hi, lo;
		uint32_t length;
	} distances[] = {{0, 1, 128},  {0, 256, 128},	 {0, 1ULL << 32, 128}, {1, 0, 64},
			 {256, 0, 56}, {1 << 16, 0, 48}, {1ULL << 32, 0, 48},  {1, 1, 128}};
	const struct xb_buckets geometry = xb_size_exact(100000, XB_SLOTS_PREFIX);
	const uint32_t keys = amount(30, 1000), count = 100000;
	static load_of_buckets load;

	assert_true(geometry.parts * geometry.size <= BUCKETS_MAX);
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		double sum[2] = {0}, worst = 0;

		for (uint32_t j = 0; j < keys; j++) {
			const struct xb_key key = {next_random(), next_random()};
			const struct xb_quotient_key step = new_key4();
			const struct xb_key6 key6 = new_key6();

			memset(&load, 0, sizeof(load));
			for (uint64_t at = 0; at < count; at++) {
				uint64_t hash = xb_hash_ipv6(
					&key6, 0x20010db800000000 + at * distances[i].hi,
					at * distances[i].lo, distances[i].length);

				put(load, &step, &geometry,
				    xb_quotient_of_hash(&key, hash, geometry.parts, geometry.size));
			}
			take_scatter(load, &geometry, count, sum, &worst);
		}
		printf("distance %lx:%lx: %.3f and %.3f of chance, at most %.2f\n", distances[i].hi,
		       distances[i].lo, sum[0] / keys, sum[1] / keys, worst);
		assert_true(sum[0] / keys < 1.1 && sum[1] / keys < 1.1);
	}
}

BEFORE_MAIN(prepare)
{
	begin_random();
}
