/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By rule, the bits of a number say:
 *   any      1: there
 *   once     0 none, 1 one, 3 several
 *   first    1: in file 0, 2: in another
 *   all      1: in this file and all before, 2: in all before this one
 *   least    the lowest bit: in this file already; above: how many files, as far as it matters
 */
#include "bloomset/values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "bloomset/prefetch.h"

#define PAGE_BITS  (4096 * 8)
#define PAGE_WORDS (PAGE_BITS / 64)
#define AHEAD	   24 /* numbers whose memory is fetched before */

enum { TOUCHED = 1, IN_FILE = 2 };

uint32_t values_width(const struct rule *rule)
{
	switch (rule->kind) {
	case RULE_ANY:
		return 1;
	case RULE_ONCE:
	case RULE_FIRST:
	case RULE_ALL:
		return 2;
	case RULE_LEAST:
		return rule->least < 2 ? 2 : rule->least < 8 ? 4 : rule->least < 128 ? 8 : 0;
	}
	return 0;
}

uint64_t values_bytes(const struct rule *rule, uint64_t count)
{
	return count / 8 * values_width(rule);
}

static uint64_t bytes_of(const struct values *values)
{
	return values->pages * (PAGE_BITS / 8);
}

int values_open(struct values *values, const struct rule *rule, uint64_t count, bool many)
{
	*values = (struct values){.rule = rule, .count = count, .width = values_width(rule)};
	values->pages = (count * values->width + PAGE_BITS - 1) / PAGE_BITS;
	values->words = mmap(NULL, bytes_of(values), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (values->words == MAP_FAILED)
		values->words = NULL;
	else if (many)
		madvise(values->words, bytes_of(values), MADV_HUGEPAGE);
	values->touched = calloc(values->pages, 1);
	return values->words && values->touched ? 0 : xb_out_of_memory();
}

void values_close(struct values *values)
{
	if (values->words)
		munmap(values->words, bytes_of(values));
	free(values->touched);
	*values = (struct values){0};
}

void values_clear(struct values *values, uint64_t first)
{
	for (uint64_t page = 0; page < values->pages; page++) {
		if (values->touched[page])
			memset(values->words + page * PAGE_WORDS, 0, PAGE_BITS / 8);
		values->touched[page] = 0;
	}
	values->first = first;
	values->file = 0;
}

/* The lowest bit of each number, of a width. */
static uint64_t lowest_bits(uint32_t width)
{
	return UINT64_MAX / ((1ULL << width) - 1);
}

/* Of a file without numbers there is nothing in all. */
static void begin_file_of_all(struct values *values, bool skipped)
{
	uint64_t mask = skipped ? 0 : lowest_bits(2);

	for (uint64_t page = 0; page < values->pages; page++) {
		uint64_t *words = values->words + page * PAGE_WORDS, any = 0;

		if (!values->touched[page])
			continue;
		for (uint64_t i = 0; i < PAGE_WORDS; i++) {
			words[i] = (words[i] & mask) << 1;
			any |= words[i];
		}
		values->touched[page] = any ? TOUCHED : 0;
	}
}

/* Nothing of what was taken is of this file. */
static void begin_file(struct values *values)
{
	uint64_t mask = ~lowest_bits(values->width);

	for (uint64_t page = 0; page < values->pages; page++) {
		if (!(values->touched[page] & IN_FILE))
			continue;
		values->touched[page] = TOUCHED;
		for (uint64_t i = 0; i < PAGE_WORDS; i++)
			values->words[page * PAGE_WORDS + i] &= mask;
	}
}

struct place {
	uint64_t *word;
	uint32_t shift;
};

static inline struct place place_of(struct values *values, uint32_t number, uint32_t width)
{
	uint64_t bit = (number - values->first) * width;

	values->touched[bit / PAGE_BITS] = TOUCHED | IN_FILE;
	return (struct place){values->words + bit / 64, bit % 64};
}

PREFETCHES fetch(const struct values *values, const uint32_t *numbers, size_t count, size_t i,
		 uint32_t width)
{
	if (i + AHEAD < count)
		__builtin_prefetch(
			values->words + (numbers[i + AHEAD] - values->first) * width / 64, 1);
}

static void take_any(struct values *values, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct place place = place_of(values, numbers[i], 1);

		fetch(values, numbers, count, i, 1);
		*place.word |= 1ULL << place.shift;
	}
}

static void take_once(struct values *values, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct place place = place_of(values, numbers[i], 2);

		fetch(values, numbers, count, i, 2);
		*place.word |= ((*place.word >> place.shift & 1) << 1 | 1) << place.shift;
	}
}

static void take_first(struct values *values, const uint32_t *numbers, size_t count)
{
	uint64_t bit = values->file ? 2 : 1;

	for (size_t i = 0; i < count; i++) {
		struct place place = place_of(values, numbers[i], 2);

		fetch(values, numbers, count, i, 2);
		*place.word |= bit << place.shift;
	}
}

static void take_all(struct values *values, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t bit = (numbers[i] - values->first) * 2, *word = values->words + bit / 64;

		fetch(values, numbers, count, i, 2);
		if (!values->file)
			place_of(values, numbers[i], 2);
		*word |= (values->file ? *word >> (bit % 64 + 1) & 1 : 1) << bit % 64;
	}
}

static void take_least(struct values *values, const uint32_t *numbers, size_t count)
{
	uint32_t width = values->width;
	uint64_t most = (uint64_t)values->rule->least << 1, mask = (1ULL << width) - 1;

	for (size_t i = 0; i < count; i++) {
		struct place place = place_of(values, numbers[i], width);
		uint64_t state = *place.word >> place.shift & mask;

		fetch(values, numbers, count, i, width);
		if (!(state & 1) && state < most)
			*place.word += 3ULL << place.shift; /* a file more, and this one */
	}
}

void values_take(struct values *values, uint32_t file, const uint32_t *numbers, size_t count)
{
	if (file != values->file && values->rule->kind == RULE_LEAST)
		begin_file(values);
	if (file != values->file && values->rule->kind == RULE_ALL)
		begin_file_of_all(values, file > values->file + 1);
	values->file = file;
	switch (values->rule->kind) {
	case RULE_ANY:
		take_any(values, numbers, count);
		break;
	case RULE_ONCE:
		take_once(values, numbers, count);
		break;
	case RULE_FIRST:
		take_first(values, numbers, count);
		break;
	case RULE_ALL:
		take_all(values, numbers, count);
		break;
	case RULE_LEAST:
		take_least(values, numbers, count);
		break;
	}
}

static bool holds(const struct values *values, uint64_t state)
{
	if (values->rule->kind == RULE_LEAST)
		return state >> 1 >= values->rule->least;
	return values->rule->kind == RULE_ALL ? state & 1 : state == 1;
}

static int give_word(const struct values *values, uint64_t at, values_giver *give, void *to)
{
	uint64_t word = values->words[at], mask = (1ULL << values->width) - 1;
	uint32_t each = 64 / values->width;
	int stop = 0;

	while (!stop && word) {
		uint32_t shift = (uint32_t)__builtin_ctzll(word) / values->width * values->width;

		if (holds(values, word >> shift & mask))
			stop = give(to,
				    (uint32_t)(values->first + at * each + shift / values->width));
		word &= ~(mask << shift);
	}
	return stop;
}

int values_give(struct values *values, values_giver *give, void *to)
{
	int stop = 0;

	if (values->rule->kind == RULE_ALL && values->file + 1 != values->rule->files)
		return 0;
	for (uint64_t page = 0; page < values->pages; page++)
		for (uint64_t i = 0; !stop && values->touched[page] && i < PAGE_WORDS; i++)
			stop = give_word(values, page * PAGE_WORDS + i, give, to);
	return stop;
}
