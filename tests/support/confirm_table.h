/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An exact table on plain memory, and its keys. */
#ifndef XB_TESTS_CONFIRM_TABLE_H
#define XB_TESTS_CONFIRM_TABLE_H

#include <sys/mman.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/exact_contents.h"

static uint64_t seed;

static inline void begin_random(void)
{
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
}

static inline uint64_t next_random(void)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return xb_mix64(seed);
}

static inline struct xb_quotient_key new_key4(void)
{
	struct xb_quotient_key key = {
		.factor = {(uint32_t)next_random(), (uint32_t)next_random(),
			   (uint32_t)next_random()},
		.step = (uint32_t)next_random(),
	};

	xb_exact_key4(&key);
	return key;
}

/* What has slots of this width. */
static inline enum xb_slots slots_for(uint32_t bits)
{
	return bits == 64		? XB_SLOTS_HASH
	       : bits == XB_SLOT_PREFIX ? XB_SLOTS_PREFIX
					: XB_SLOTS_ADDRESS;
}

static inline struct xb_exact make(struct xb_buckets geometry)
{
	struct xb_exact table = {.geometry = geometry,
				 .slots = slots_for(geometry.slot_bits),
				 .key = {next_random(), next_random()},
				 .key4 = new_key4()};
	size_t bytes = xb_exact_bytes(&geometry);
	int fd = memfd_create("buckets", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)bytes + 4096), 0);
	assert_int_equal(xb_mapping_open(&table.buckets, fd, bytes), 0);
	assert_int_equal(xb_mapping_map_all(&table.buckets), 0);
	close(fd);
	return table;
}

static inline void discard(struct xb_exact *table)
{
	xb_mapping_close(&table->buckets);
}

/* Keys are numbers: an address, or what is hashed as a prefix would be. */
static inline uint64_t hash_of(const struct xb_exact *table, uint64_t key)
{
	return table->slots == XB_SLOTS_ADDRESS ? 0 : xb_mix64(table->key.a + key);
}

static inline int add(struct xb_exact *table, uint64_t key)
{
	return xb_exact_add(table, hash_of(table, key), (uint32_t)key);
}

static inline int del(struct xb_exact *table, uint64_t key)
{
	return xb_exact_delete(table, hash_of(table, key), (uint32_t)key);
}

static inline bool has(struct xb_exact *table, uint64_t key)
{
	return xb_exact_contains(table, hash_of(table, key), (uint32_t)key);
}

/* Distinct, in random order: an odd multiple is a bijection. */
static inline uint32_t *make_keys(size_t count)
{
	uint32_t *keys = calloc(count, sizeof(*keys)), shift = (uint32_t)next_random();

	for (size_t i = 0; i < count; i++)
		keys[i] = ((uint32_t)i + shift) * 0x9e3779b1U;
	return keys;
}

static inline uint64_t *words_of(const struct xb_exact *table)
{
	return (uint64_t *)(void *)table->buckets.base;
}

/* The line behind those that have buckets. */
static inline size_t end_line(const struct xb_exact *table)
{
	return xb_exact_bytes(&table->geometry) / sizeof(struct xb_bucket) - 1;
}

static inline uint64_t *end_of(const struct xb_exact *table)
{
	return words_of(table) + 8 * end_line(table);
}

static inline uint64_t moves_of(const struct xb_exact *table)
{
	return __atomic_load_n(&end_of(table)[XB_BUCKET_MOVES], __ATOMIC_SEQ_CST);
}

#endif
