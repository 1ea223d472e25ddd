/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counting filter on plain memory: shared bits, saturation, absent keys; and the rate against
 * the model. */
#include <sys/mman.h>
#include <unistd.h>

#include "bloom/bloom.h"
#include "bloom/sizing.h"
#include "support/cmocka.h"

static struct xb_bloom make(uint32_t blocks, uint32_t probes)
{
	struct xb_bloom filter = {
		.geometry = {.blocks = blocks, .probes = probes},
		.key = {.a = 0x0123456789abcdef, .b = 0xfedcba9876543210},
	};
	int fd = memfd_create("filter", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)blocks * 64 + 4096), 0);
	assert_int_equal(xb_mapping_open(&filter.bits, fd, (size_t)blocks * 64), 0);
	assert_int_equal(xb_mapping_map_all(&filter.bits), 0);
	filter.counters = calloc(blocks, sizeof(*filter.counters));
	close(fd);
	return filter;
}

static void discard(struct xb_bloom *filter)
{
	xb_mapping_close(&filter->bits);
	free(filter->counters);
}

/* In how many of the eight words two hashes of one block have the same bit. */
static int shared_bits(const struct xb_bloom *filter, uint64_t a, uint64_t b)
{
	struct xb_probes left = xb_probes_of(&filter->key, a),
			 right = xb_probes_of(&filter->key, b);
	int shared = 0;

	for (uint32_t i = 0; i < XB_PROBES_FEW; i++)
		shared += xb_probe_bit(&left, i) == xb_probe_bit(&right, i);
	return shared;
}

/* Modulo 2^64, of an odd number; each step of Newton's doubles the bits that are right. */
static uint64_t inverse(uint64_t number)
{
	uint64_t found = number;

	for (int i = 0; i < 5; i++)
		found *= 2 - number * found;
	return found;
}

/* The hash whose first eight probes are these, six bits each: xb_probes_of() undone. */
static uint64_t hash_of(const struct xb_bloom *filter, uint64_t low)
{
	uint64_t word = low ^ (low >> 32), hash;

	word *= inverse(0xd6e8feb86659fd93ULL);
	word ^= word >> 32;
	hash = word * inverse(0x9fb21c651e98df25ULL) ^ filter->key.b;
	assert_true(xb_probes_of(&filter->key, hash).low == low);
	return hash;
}

TEST(one_of_two_that_share_every_bit_but_one)
{
	struct xb_bloom filter = make(1, XB_PROBES_FEW);
	uint64_t low = 0x5a5a5a5a5a5a5a5a, a = hash_of(&filter, low);

	for (int word = 0; word < 8; word++) {
		uint64_t b = hash_of(&filter, low ^ (1ULL << (6 * word)));

		assert_int_equal(shared_bits(&filter, a, b), 7);
		xb_bloom_add(&filter, a);
		assert_false(xb_bloom_contains(&filter, b));
		xb_bloom_add(&filter, b);
		assert_int_equal(xb_bloom_delete(&filter, a), 0);
		assert_true(xb_bloom_contains(&filter, b));
		assert_false(xb_bloom_contains(&filter, a));
		assert_int_equal(xb_bloom_delete(&filter, b), 0);
		assert_false(xb_bloom_contains(&filter, b));
	}
	discard(&filter);
}

TEST(deleting_what_was_not_added_is_refused)
{
	struct xb_bloom filter = make(1, XB_PROBES_FEW);
	struct xb_counters before;
	uint64_t a = hash_of(&filter, 0), b = hash_of(&filter, 1);

	xb_bloom_add(&filter, a);
	before = filter.counters[0];
	assert_true(xb_bloom_delete(&filter, b) < 0);
	assert_memory_equal(&before, &filter.counters[0], sizeof(before));
	assert_true(xb_bloom_contains(&filter, a));
	discard(&filter);
}

TEST(a_counter_at_its_end_sticks)
{
	uint64_t a = 0x5a5a5a5a5a5a5a5a;

	for (int adds = 1; adds <= 40; adds++) {
		struct xb_bloom filter = make(1, XB_PROBES_FEW);

		for (int i = 0; i < adds; i++)
			xb_bloom_add(&filter, a);
		for (int i = 0; i < adds; i++) {
			assert_true(xb_bloom_contains(&filter, a));
			assert_int_equal(xb_bloom_delete(&filter, a), 0);
		}
		assert_int_equal(xb_bloom_contains(&filter, a), adds >= XB_COUNTER_STUCK);
		discard(&filter);
	}
}

/* Adding one by one and building in shares give the same filter; deleting everything gives an empty
 * one. */
TEST(building_equals_adding)
{
	const uint32_t blocks = 512, keys = 10000;
	uint64_t *hashes = calloc(keys, sizeof(*hashes));

	for (uint32_t probes = XB_PROBES_FEW; probes <= XB_PROBES_MANY; probes += XB_PROBES_FEW) {
		struct xb_bloom one = make(blocks, probes), shares = make(blocks, probes);

		for (uint32_t i = 0; i < keys; i++) {
			hashes[i] = xb_hash_ipv4(&one.key, i);
			xb_bloom_add(&one, hashes[i]);
		}
		for (uint32_t part = 0; part < 3; part++)
			xb_bloom_build(&shares, hashes, keys, blocks * part / 3,
				       blocks * (part + 1) / 3);
		assert_memory_equal(one.bits.base, shares.bits.base, blocks * 64);
		assert_memory_equal(one.counters, shares.counters, blocks * sizeof(*one.counters));
		for (uint32_t i = 0; i < keys; i++)
			assert_true(xb_bloom_contains(&one, hashes[i]));
		discard(&one);
		discard(&shares);
	}
	free(hashes);
}

TEST(the_measured_rate_is_the_models)
{
	for (double promise = 1e-2; promise > 5e-5; promise /= 10) {
		const uint64_t keys = 200000, probes = 6000000;
		struct xb_geometry geometry;
		struct xb_bloom filter;
		uint64_t hits = 0;

		assert_int_equal(xb_size_bloom(keys, promise, &geometry), 0);
		filter = make(geometry.blocks, geometry.probes);
		for (uint32_t i = 0; i < keys; i++)
			xb_bloom_add(&filter, xb_hash_ipv4(&filter.key, i));
		for (uint32_t i = 0; i < probes; i++)
			hits += xb_bloom_contains(&filter,
						  xb_hash_ipv4(&filter.key, 0x80000000U + i));
		printf("promised %g, measured %.3g\n", promise, (double)hits / (double)probes);
		assert_true((double)hits / (double)probes < promise * 1.15);
		assert_true((double)hits / (double)probes > promise * 0.85);
		discard(&filter);
	}
}
