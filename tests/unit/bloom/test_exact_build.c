/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact table built by several threads, on plain memory: how full it is, and what is in it. */
#include <pthread.h>

#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/confirm_table.h"

static void assert_same_contents(const struct xb_exact *a, const struct xb_exact *b)
{
	size_t left, right;
	uint64_t *in_a = exact_contents(a, &left), *in_b = exact_contents(b, &right);

	assert_int_equal(left, right);
	assert_memory_equal(in_a, in_b, left * sizeof(*in_a));
	free(in_a);
	free(in_b);
}

struct shares {
	struct xb_exact *table;
	const uint64_t *hashes;
	const uint32_t *addresses;
	size_t count;
	uint32_t part, parts;
	int error;
};

static uint32_t share_start(const struct shares *share, uint32_t part)
{
	return (uint32_t)((uint64_t)share->table->geometry.parts * part / share->parts);
}

/* As a builder does: its parts, the keys in chunks. */
static void *build_share(void *context)
{
	struct shares *share = context;
	uint32_t first = share_start(share, share->part),
		 last = share_start(share, share->part + 1);
	uint8_t *used = calloc((size_t)(last - first) * share->table->geometry.size + 1, 1);

	for (size_t at = 0; !share->error && at < share->count; at += 4096) {
		size_t chunk = share->count - at < 4096 ? share->count - at : 4096;

		share->error = xb_exact_build(share->table, share->hashes + at,
					      share->addresses + at, chunk, first, last, used);
	}
	free(used);
	return NULL;
}

#define THREADS_MAX 4

/* 0 or -EXFULL */
static int build(struct xb_exact *table, const uint32_t *keys, size_t count, uint32_t threads)
{
	struct shares shares[THREADS_MAX];
	pthread_t thread[THREADS_MAX];
	uint64_t *hashes = calloc(count, sizeof(*hashes));
	int error = 0;

	for (size_t i = 0; i < count; i++)
		hashes[i] = hash_of(table, keys[i]);
	for (uint32_t i = 0; i < threads; i++) {
		shares[i] = (struct shares){table, hashes, keys, count, i, threads, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, build_share, &shares[i]), 0);
	}
	for (uint32_t i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		error = error ? error : shares[i].error;
	}
	free(hashes);
	return error;
}

/* How many of a hundred stand in their first bucket. */
static double first_of(struct xb_exact *table, const uint32_t *keys, size_t count)
{
	size_t first = 0;

	uint32_t slots = (uint32_t)(xb_exact_slots(&table->geometry) /
				    (table->geometry.parts * table->geometry.size));

	for (size_t i = 0; i < count; i++) {
		struct xb_spot spot[2];
		uint32_t slot = 0;

		xb_exact_spots(table, hash_of(table, keys[i]), keys[i], spot);
		while (slot < slots && xb_exact_slot(table, spot[0].bucket, slot) != spot[0].value)
			slot++;
		first += slot < slots;
	}
	return 100 * (double)first / (double)count;
}

/* Kinds of slots, and how many of a hundred stand in their first bucket, at least. */
static const struct {
	enum xb_slots slots;
	double first;
} kinds[] = {{XB_SLOTS_ADDRESS, 96}, {XB_SLOTS_PREFIX, 94}, {XB_SLOTS_HASH, 92}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The size asked for is for the keys and the room to grow; both are built, with so few parts and
 * slots left over, and nearly all stand where a packet looks first. */
TEST(many_keys_fill_the_first_buckets)
{
	/* Fewer have more room to grow, and one part. */
	const uint64_t keys = is_slowed() ? 500000 : amount(500000, 1000000),
		       capacity = keys + xb_size_headroom(keys);
	uint32_t *all = make_keys(capacity);

	for (size_t kind = 0; kind < KINDS; kind++) {
		struct xb_buckets geometry = xb_size_exact(capacity, kinds[kind].slots);
		double slots = (double)xb_exact_slots(&geometry);

		printf("%u bits: %u parts of %u buckets, %.1f %% full with %lu keys, %.2f bytes "
		       "each\n",
		       geometry.slot_bits, geometry.parts, geometry.size,
		       100 * (double)keys / slots, keys,
		       (double)xb_exact_bytes(&geometry) / (double)keys);
		assert_true((double)keys / slots >= 0.98 * XB_CONFIRM_FILL);
		assert_true(geometry.parts > 4 && geometry.size >= 4096);
		assert_true(capacity <= xb_exact_room(&geometry));
		for (int whole = 0; whole < 2; whole++) {
			struct xb_exact table = make(geometry);
			size_t count = whole ? capacity : keys;
			double first;

			assert_int_equal(build(&table, all, count, 2), 0);
			for (size_t i = 0; i < count; i++)
				assert_true(has(&table, all[i]));
			first = first_of(&table, all, count);
			printf("%zu keys: %.2f %% in their first bucket\n", count, first);
			assert_true(first > (geometry.small ? 92 : kinds[kind].first));
			discard(&table);
		}
	}
	free(all);
}

/* What is sized for few keys has a place for each of them, and one part. */
TEST(every_small_size_holds_its_keys)
{
	for (uint64_t count = 1; count < 3000; count += 1 + count / 7) {
		for (size_t kind = 0; kind < KINDS; kind++) {
			struct xb_buckets geometry = xb_size_exact(count, kinds[kind].slots);
			struct xb_exact table = make(geometry);
			uint32_t *keys = make_keys(count);

			assert_int_equal(geometry.parts, 1);
			assert_int_equal(build(&table, keys, count, 1), 0);
			for (uint64_t i = 0; i < count; i++)
				assert_true(has(&table, keys[i]));
			free(keys);
			discard(&table);
		}
	}
}

/* Addresses of the first part alone, so that a share of the keys fills it. */
static uint32_t *make_keys_of_a_part(const struct xb_exact *table, size_t count)
{
	uint32_t *keys = calloc(count, sizeof(*keys));
	uint64_t numbers = (1ULL << 32) / table->geometry.parts;

	for (size_t i = 0; i < count; i++)
		keys[i] = address_permuted_to(&table->key4, (uint32_t)(next_random() % numbers));
	return keys;
}

TEST(building_equals_adding)
{
	const struct xb_buckets geometries[] = {xb_size_exact(250000, XB_SLOTS_ADDRESS),
						xb_size_exact(250000, XB_SLOTS_HASH),
						{37, 3543, 16, 0},
						xb_size_exact(250000, XB_SLOTS_PREFIX),
						{38, 4177, 16, 1}};

	for (int i = 0; i < 5; i++) {
		struct xb_buckets geometry = geometries[i];
		bool narrow = geometry.slot_bits == XB_SLOT_NARROW;
		size_t part = xb_exact_slots(&geometry) / geometry.parts,
		       count = narrow ? part * 93 / 100 : 250000;
		struct xb_exact one = make(geometry);
		uint32_t *keys = narrow ? make_keys_of_a_part(&one, count) : make_keys(count);

		keys[7] = keys[8] = keys[9] = keys[count - 1]; /* ranges that overlap */
		for (size_t j = 0; j < count; j++)
			assert_int_equal(add(&one, keys[j]), 0);
		for (uint32_t threads = 1; threads <= THREADS_MAX; threads++) {
			struct xb_exact built = make(geometry);

			built.key = one.key;
			built.key4 = one.key4;
			assert_true(geometry.parts > 1);
			assert_int_equal(build(&built, keys, count, threads), 0);
			assert_same_contents(&one, &built);
			for (size_t j = 0; j < count; j++)
				assert_true(has(&built, keys[j]));
			discard(&built);
		}
		discard(&one);
		free(keys);
	}
}

/* Both buckets of a key lie in one part: threads that have a part each never meet. */
TEST(both_choices_lie_in_one_part)
{
	const struct xb_buckets geometry = {.parts = 7, .size = 4099};
	const struct xb_key key = {next_random(), next_random()};
	uint32_t seen[7] = {0};

	for (int i = 0; i < 100000; i++) {
		struct xb_choices choices =
			xb_choices_of(&key, next_random(), geometry.parts, geometry.size);

		assert_true(choices.first < geometry.parts * geometry.size);
		assert_int_equal(choices.first / geometry.size, choices.second / geometry.size);
		seen[choices.first / geometry.size]++;
	}
	for (int part = 0; part < 7; part++)
		assert_in_range(seen[part], 100000 / 7 - 800, 100000 / 7 + 800);
}

BEFORE_MAIN(prepare)
{
	begin_random();
}
