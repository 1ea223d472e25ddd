/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting behind the blocked Bloom filter (Fan, Cao, Almeida, Broder, 2000: 4 bits suffice). */
#include "bloom/bloom.h"

#include <errno.h>

static struct xb_block *block_at(struct xb_bloom *filter, uint32_t index)
{
	return (struct xb_block *)(void *)(filter->bits.base +
					   (size_t)index * sizeof(struct xb_block));
}

uint32_t xb_bloom_block(const struct xb_bloom *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->key, hash);

	return xb_scale(probes.place, filter->geometry.blocks);
}

int xb_bloom_prepare(struct xb_bloom *filter, uint64_t hash)
{
	size_t offset = (size_t)xb_bloom_block(filter, hash) * sizeof(struct xb_block);

	return xb_mapping_map(&filter->bits, offset, sizeof(struct xb_block));
}

static unsigned int counter_get(const struct xb_counters *counters, unsigned int bit)
{
	return (counters->byte[bit / 2] >> (bit % 2 * 4)) & 15;
}

static void counter_set(struct xb_counters *counters, unsigned int bit, unsigned int value)
{
	unsigned int shift = bit % 2 * 4;
	uint8_t *byte = &counters->byte[bit / 2];

	*byte = (uint8_t)((*byte & ~(15U << shift)) | (value << shift));
}

/* The place of probe i in its block: word number times 64 plus bit. */
static unsigned int probe_place(const struct xb_probes *probes, uint32_t i)
{
	return i % XB_BLOCK_WORDS * 64 + (unsigned int)xb_probe_bit(probes, i);
}

static inline void count_up(struct xb_counters *counters, const struct xb_probes *probes,
			    uint32_t count)
{
#pragma GCC unroll 8
	for (uint32_t i = 0; i < count; i++) {
		unsigned int place = probe_place(probes, i), shift = place % 2 * 4;
		uint8_t *byte = &counters->byte[place / 2];
		unsigned int one = (*byte >> shift & 15) < XB_COUNTER_STUCK;

		*byte = (uint8_t)(*byte + (one << shift));
	}
}

void xb_bloom_add(struct xb_bloom *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->key, hash);
	uint32_t index = xb_scale(probes.place, filter->geometry.blocks);
	struct xb_block *block = block_at(filter, index);

	count_up(&filter->counters[index], &probes, filter->geometry.probes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < filter->geometry.probes; i++)
		__atomic_fetch_or(&block->word[i % XB_BLOCK_WORDS],
				  1ULL << xb_probe_bit(&probes, i), __ATOMIC_RELEASE);
}

int xb_bloom_delete(struct xb_bloom *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->key, hash);
	uint32_t index = xb_scale(probes.place, filter->geometry.blocks);
	struct xb_block *block = block_at(filter, index);
	struct xb_counters *counters = &filter->counters[index];

	for (uint32_t i = 0; i < filter->geometry.probes; i++)
		if (!counter_get(counters, probe_place(&probes, i)))
			return -EUCLEAN;
	for (uint32_t i = 0; i < filter->geometry.probes; i++) {
		unsigned int place = probe_place(&probes, i),
			     counter = counter_get(counters, place);

		if (!counter || counter == XB_COUNTER_STUCK)
			continue;
		counter_set(counters, place, counter - 1);
		if (counter == 1)
			__atomic_fetch_and(&block->word[i % XB_BLOCK_WORDS],
					   ~(1ULL << xb_probe_bit(&probes, i)), __ATOMIC_RELEASE);
	}
	return 0;
}

bool xb_bloom_contains(struct xb_bloom *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->key, hash);
	const struct xb_block *block =
		block_at(filter, xb_scale(probes.place, filter->geometry.blocks));
	uint64_t all = 1;

	for (uint32_t i = 0; i < filter->geometry.probes; i++)
		all &= block->word[i % XB_BLOCK_WORDS] >> xb_probe_bit(&probes, i);
	return all & 1;
}

/* Keys looked ahead, so that their lines are on the way when they are needed. */
#define AHEAD 16

struct pending {
	struct xb_probes probes;
	uint32_t index;
};

/* Nobody reads a filter that is being built: plain writes do. probes: a constant where this is
 * inlined. */
static inline void build_with(struct xb_bloom *filter, const struct pending *key, uint32_t probes)
{
	struct xb_block *block = block_at(filter, key->index);

	count_up(&filter->counters[key->index], &key->probes, probes);

#pragma GCC unroll 8
	for (uint32_t i = 0; i < probes; i++)
		block->word[i % XB_BLOCK_WORDS] |= 1ULL << xb_probe_bit(&key->probes, i);
}

static void build_one(struct xb_bloom *filter, const struct pending *key)
{
	if (filter->geometry.probes == XB_PROBES_FEW)
		build_with(filter, key, XB_PROBES_FEW);
	else
		build_with(filter, key, filter->geometry.probes);
}

void xb_bloom_build(struct xb_bloom *filter, const uint64_t *hashes, size_t count, uint32_t first,
		    uint32_t last)
{
	struct pending ahead[AHEAD];
	size_t queued = 0, done = 0;

	for (size_t i = 0; i < count; i++) {
		struct pending key = {.probes = xb_probes_of(&filter->key, hashes[i])};

		key.index = xb_scale(key.probes.place, filter->geometry.blocks);
		if (key.index < first || key.index >= last)
			continue;
		xb_bloom_fetch(filter, key.index);
		if (queued - done == AHEAD)
			build_one(filter, &ahead[done++ % AHEAD]);
		ahead[queued++ % AHEAD] = key;
	}
	while (done < queued)
		build_one(filter, &ahead[done++ % AHEAD]);
}
