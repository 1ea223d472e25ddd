/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as quotients: no two of them are taken for each other, and lists of any kind spread. */
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/confirm_table.h"

#define WINDOW 200000 /* addresses that are permuted to numbers in a row */

/* The fewest buckets for each width of slots, in one part and in several, and many more. */
static const struct xb_buckets geometries[] = {
	{1, 131077, 16}, {37, 3543, 16}, {97, 4096, 16},  {1000, 5001, 16}, {1, 4097, 21},
	{3, 1366, 21},	 {12, 4099, 21}, {1, 3, 32},	  {1, 700, 32},	    {5, 4100, 32},
	{1, 4096, 32},	 {2, 2049, 21},	 {900, 4321, 21},
};
#define GEOMETRIES (sizeof(geometries) / sizeof(geometries[0]))

static struct xb_quotient quotient_of(const struct xb_quotient_key *key, uint32_t address,
				      const struct xb_buckets *geometry)
{
	return xb_quotient_of(key, address, geometry->parts, geometry->size, geometry->slot_bits);
}

/* Bucket and remainder as one number. */
static uint64_t rank_of(const struct xb_quotient *quotient)
{
	return (uint64_t)(quotient->start + quotient->home) << 32 | quotient->remainder;
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
	static const struct xb_buckets few[] = {{1, 131076, 16}, {1, 4096, 21}, {1, 2, 32}};
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
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 0, 32}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 64}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 0}, XB_SLOTS_ADDRESS));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 1000, 32}, XB_SLOTS_NAME));
	assert_true(xb_exact_is_sound(&(struct xb_buckets){1, 1, 64}, XB_SLOTS_NAME));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){65536, 65536, 64}, XB_SLOTS_HASH));
	assert_false(xb_exact_is_sound(&(struct xb_buckets){1, 3000000000U, 32}, XB_SLOTS_ADDRESS));
}

TEST(either_place_tells_the_other)
{
	for (size_t i = 0; i < GEOMETRIES; i++) {
		const struct xb_buckets *geometry = &geometries[i];
		const struct xb_quotient_key key = new_key4();

		for (int j = 0; j < 20000; j++) {
			struct xb_quotient quotient =
				quotient_of(&key, (uint32_t)next_random(), geometry);
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

/* Addresses at equal distances, for both places. The bound is of the mean over keys: single keys
 * may be unlucky, and cost a second line then. */
TEST(regular_lists_spread)
{
	static const uint32_t distances[] = {1,	  2,	3,    16,    255,   256,
					     257, 1000, 4096, 65536, 65537, 1 << 20};
	const uint32_t keys = amount(100, 1000);
	static uint16_t load[2][8192];

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		const struct xb_buckets geometry = xb_size_exact(100000, XB_SLOTS_ADDRESS);
		uint64_t all = (1ULL << 32) / distances[i], count = all < 100000 ? all : 100000;
		double sum[2] = {0}, worst = 0;

		assert_true(geometry.parts * geometry.size <= 8192);
		for (uint32_t j = 0; j < keys; j++) {
			const struct xb_quotient_key key = new_key4();
			uint32_t first = (uint32_t)next_random();

			memset(load, 0, sizeof(load));
			for (uint32_t at = 0; at < count; at++) {
				struct xb_quotient quotient =
					quotient_of(&key, first + at * distances[i], &geometry);

				load[0][xb_quotient_first(&quotient).bucket]++;
				load[1][xb_quotient_second(&key, &quotient, geometry.size,
							   geometry.slot_bits)
						.bucket]++;
			}
			for (int which = 0; which < 2; which++) {
				double found = scatter(load[which], &geometry, count);

				sum[which] += found;
				worst = found > worst ? found : worst;
			}
		}
		printf("distance %u: %.3f and %.3f of chance, at most %.2f\n", distances[i],
		       sum[0] / keys, sum[1] / keys, worst);
		assert_true(sum[0] / keys < 1.1 && sum[1] / keys < 1.1);
	}
}

BEFORE_MAIN(prepare)
{
	begin_random();
}
