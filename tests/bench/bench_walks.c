/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_walks BYTES ROUNDS READS: how long a read of one random line takes that waits for the one
 * before, in so much memory of this process, on pages of 4 KiB and of 2 MiB. The pages of the one
 * need a walk of page tables where the TLB does not have them, so the difference is the walk's.
 * Prints one JSON object: nanoseconds a read, one number for each round; none where the kernel has
 * no such pages.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/seconds.h"
#include "xdp_bloom/hash.h"

#define LINE_WORDS 8
#define HUGE	   (2UL << 20)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum pages { SMALL, LARGE, KINDS };

struct memory {
	uint64_t *words; /* NULL: not to be had */
	uint32_t lines;
	json_t *samples;
};

/* Memory that begins with a large page, and is written, so that its pages are there. */
static uint64_t *memory_of(size_t bytes, enum pages pages)
{
	size_t room = (bytes + HUGE - 1) / HUGE * HUGE;
	uint8_t *start =
		mmap(NULL, room + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	start += (HUGE - (uintptr_t)start % HUGE) % HUGE;
	if (madvise(start, room, pages == LARGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		return NULL;
	memset(start, 0, room);
	/* As far as they are not large yet. */
	if (pages == LARGE && madvise(start, room, MADV_COLLAPSE))
		return NULL;
	return (uint64_t *)(void *)start;
}

/* Nanoseconds a read. What was read is part of where the next one is. */
static double chase(const struct memory *memory, uint32_t reads)
{
	const volatile uint64_t *words = memory->words;
	uint64_t place = 1;
	double start = seconds();

	for (uint32_t i = 0; i < reads; i++) {
		size_t line;

		place = place * 0xd1342543de82ef95U + 1;
		line = xb_scale((uint32_t)(place >> 32), memory->lines);
		place ^= words[line * LINE_WORDS];
	}
	return (seconds() - start) / reads * 1e9;
}

int main(int argc, char **argv)
{
	struct memory memories[KINDS];
	uint32_t rounds, reads;
	size_t bytes;

	if (argc != 4) {
		fprintf(stderr, "usage: bench_walks BYTES ROUNDS READS\n");
		return 2;
	}
	bytes = strtoul(argv[1], NULL, 10);
	rounds = (uint32_t)strtoul(argv[2], NULL, 10);
	reads = (uint32_t)strtoul(argv[3], NULL, 10);
	for (enum pages i = 0; i < KINDS; i++)
		memories[i] = (struct memory){
			.words = memory_of(bytes, i),
			.lines = (uint32_t)(bytes / LINE_WORDS / sizeof(uint64_t)),
			.samples = json_array(),
		};
	/* Round 0 is not kept. */
	for (uint32_t round = 0; round <= rounds; round++)
		for (enum pages i = 0; i < KINDS; i++) {
			double ns = memories[i].words ? chase(&memories[i], reads) : 0;

			if (round && memories[i].words)
				json_array_append_new(memories[i].samples, json_real(ns));
		}
	json_dumpf(json_pack("{s:I,s:o,s:o}", "bytes", (json_int_t)bytes, "small_ns",
			     memories[SMALL].samples, "large_ns", memories[LARGE].samples),
		   stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	return 0;
}
