/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A filter in the memory of this process: sized, built and asked by the code that ships. */
#ifndef XB_BENCH_FILTER_H
#define XB_BENCH_FILTER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/error.h"
#include "bloom/bloom.h"
#include "bloom/sizing.h"

struct filter {
	struct xb_bloom counting;
	size_t bits_bytes;
	size_t counters_bytes;
};

static inline void give_up(const char *what)
{
	fprintf(stderr, "bench_classic: %s\n", what);
	exit(1);
}

static inline void *zeroed(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		give_up("no memory");
	madvise(memory, size, MADV_HUGEPAGE); /* as the kernel's own memory is mapped */
	return memory;
}

/* seed: the same one gives the same keys, so that every run counts the same false positives. */
static inline struct filter filter_open(uint64_t keys, double rate, uint64_t seed)
{
	struct filter filter = {
		.counting.key = {.a = xb_mix64(2 * seed + 1), .b = xb_mix64(2 * seed + 2)}};

	if (xb_size_bloom(keys, rate, &filter.counting.geometry))
		give_up(xb_error_message());
	filter.bits_bytes = (size_t)filter.counting.geometry.blocks * sizeof(struct xb_block);
	filter.counters_bytes =
		(size_t)filter.counting.geometry.blocks * sizeof(struct xb_counters);
	filter.counting.bits = (struct xb_mapping){
		.base = zeroed(filter.bits_bytes), .size = filter.bits_bytes, .fd = -1};
	filter.counting.counters = zeroed(filter.counters_bytes);
	return filter;
}

static inline void filter_close(struct filter *filter)
{
	munmap(filter->counting.bits.base, filter->bits_bytes);
	munmap(filter->counting.counters, filter->counters_bytes);
}

static inline void filter_build(struct filter *filter, const uint64_t *hashes, size_t count)
{
	xb_bloom_build(&filter->counting, hashes, count, 0, filter->counting.geometry.blocks);
}

/*
 * A look-up as the packet path has it: unrolled, without branches within 8 probes. (Userspace has
 * xb_bloom_contains() for single questions, which takes its number of probes as it comes.)
 */
static inline bool filter_contains(const struct filter *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->counting.key, hash);
	const struct xb_block *block = (const struct xb_block *)(void *)filter->counting.bits.base +
				       xb_scale(probes.place, filter->counting.geometry.blocks);
	uint64_t few = 1, many = 1;

#pragma GCC unroll 8
	for (uint32_t i = 0; i < XB_PROBES_FEW; i++)
		few &= block->word[i] >> xb_probe_bit(&probes, i);
	if (!(few & 1) || filter->counting.geometry.probes == XB_PROBES_FEW)
		return few & 1;
#pragma GCC unroll 8
	for (uint32_t i = XB_PROBES_FEW; i < XB_PROBES_MANY; i++)
		many &= block->word[i % XB_BLOCK_WORDS] >> xb_probe_bit(&probes, i);
	return many & 1;
}

/* Of this thread: what other processes take of its CPU is not counted. */
static inline double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#endif
