/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept in parts: within its memory whatever comes, and in the order in which it came; and
 * where there is so little memory that parts are parted again, each text once, and in as many files
 * as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/parts.h"
#include "bloomset/spill.h"
#include "bloomset/texthash.h"
#include "support/amount.h"
#include "support/cmocka.h"

#define KIB ((uint64_t)1 << 10)

struct expected {
	uint32_t next, step;
};

static int in_order(void *to, uint32_t file, const char *bytes, size_t size)
{
	struct expected *expected = to;
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	assert_int_equal(size, sizeof(number));
	assert_int_equal(number, expected->next);
	assert_int_equal(file, number / 1000);
	expected->next += expected->step;
	return 0;
}

/* Where many thousands of chunks are is in the file, too. */
TEST(chunks_without_number)
{
	const uint32_t records = 2000000, streams = 4;
	struct budget budget = {.size = 64 * KIB};
	struct spill spill;

	assert_int_equal(spill_open(&spill, streams, 16 * KIB, &budget), 0);
	for (uint32_t i = 0; i < records; i++) {
		assert_int_equal(spill_put(&spill, i % streams, i / 1000, &i, sizeof(i)), 0);
		assert_true(budget.used <= 20 * KIB);
	}
	assert_int_equal(spill_settle(&spill), 0);
	assert_int_equal(spill.held, 0);
	for (uint32_t i = 0; i < streams; i++) {
		struct expected expected = {i, streams};

		assert_true(spill.streams[i].chain.indexes > 1);
		assert_int_equal(spill_read(&spill, i, in_order, &expected), 0);
		assert_int_equal(expected.next, records + i);
		spill_drop(&spill, i);
	}
	spill_close(&spill);
	assert_int_equal(budget.used, 0);
}

static int add_size(void *to, uint32_t file, const char *bytes, size_t size)
{
	*(uint64_t *)to += size;
	return 0;
}

/* A long record takes the room of short ones, which were kept for others of their size. */
TEST(long_records)
{
	const size_t size = 48 * KIB;
	struct budget budget = {.size = 100 * KIB};
	char *record = calloc(1, size);
	uint64_t bytes = 0, put = 0;
	struct spill spill;

	assert_int_equal(spill_open(&spill, 8, 64 * KIB, &budget), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		size_t part = i % 500 == 499 ? size : 20;

		assert_int_equal(spill_put(&spill, i % 8, 0, record, part), 0);
		assert_true(spill.held <= 64 * KIB);
		assert_true(budget.used <= 70 * KIB);
		put += part;
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(spill_read(&spill, i, add_size, &bytes), 0);
	assert_int_equal(bytes, put);
	spill_close(&spill);
	free(record);
}

static int give_way(void *to, uint64_t bytes)
{
	return spill_give_way(to, bytes);
}

TEST(others_need_it)
{
	struct budget budget = {.size = 100 * KIB, .give_way = give_way};
	uint64_t bytes = 0;
	struct spill spill;

	budget.to = &spill;
	assert_int_equal(spill_open(&spill, 8, 64 * KIB, &budget), 0);
	for (uint32_t i = 0; i < 8000; i++)
		assert_int_equal(spill_put(&spill, i % 8, 0, "abcd", 4), 0);
	assert_int_equal(spill.file.written, 0);
	assert_int_equal(budget_take(&budget, 90 * KIB), 0);
	assert_true(spill.file.written > 0);
	/* There is room for some. */
	for (uint32_t i = 0; i < 8000; i++)
		assert_int_equal(spill_put(&spill, i % 8, 0, "abcd", 4), 0);
	assert_true(budget.used <= budget.size);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(spill_read(&spill, i, add_size, &bytes), 0);
	assert_int_equal(bytes, 64000);
	assert_int_not_equal(budget_take(&budget, 90 * KIB), 0);
	budget_return(&budget, 90 * KIB);
	spill_close(&spill);
}

/* A counter for each number takes more streams than a bit; a chunk for each is within the pool. */
TEST(streams_of_numbers)
{
	const uint64_t memory = 16 << 20, pool = memory / 4;
	const struct rule rules[] = {
		{RULE_ANY, 0, 9}, {RULE_ONCE, 0, 9}, {RULE_LEAST, 4, 9}, {RULE_LEAST, 8, 9}};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		uint32_t streams = parts_number_streams(&rules[i], memory);
		struct budget budget = {.size = memory};
		struct spill spill;

		assert_true(values_bytes(&rules[i], PARTS_NUMBERS / streams) <= memory / 8);
		assert_int_equal(spill_open(&spill, streams, pool, &budget), 0);
		for (uint32_t j = 0; j < 4 * streams; j++)
			assert_int_equal(
				parts_put_number(&spill, 0,
						 j * (uint32_t)(PARTS_NUMBERS / 4 / streams)),
				0);
		assert_int_equal(spill.file.written, 0);
		assert_true(spill.held <= pool / 2);
		spill_close(&spill);
	}
}

/* --- parted again --- */

#define TEXTS  100000
#define MEMORY (128U << 10)

static const struct xb_key key = {0x1234, 0x5678};

static int put(struct spill *spill, uint32_t file, uint32_t number)
{
	char text[101];
	size_t size = (size_t)snprintf(text, sizeof(text), "%0100u", number);

	return spill_put(spill, parts_stream(spill, texthash(&key, text, size), 0), file, text,
			 size);
}

/* Numbers from 0 to TEXTS in file 0, the even ones in file 1 too, twice. */
static void fill(struct spill *spill, struct budget *budget)
{
	assert_int_equal(spill_open(spill, parts_streams(MEMORY), MEMORY, budget), 0);
	for (uint32_t i = 0; i < TEXTS; i++)
		assert_int_equal(put(spill, 0, i), 0);
	for (uint32_t i = 0; i < 2 * TEXTS; i += 2)
		assert_int_equal(put(spill, 1, i % TEXTS), 0);
	assert_int_equal(spill_settle(spill), 0);
	assert_true(spill->file.written > 0);
}

static uint64_t given(const struct rule *rule, uint64_t memory, int stop, bool *again)
{
	struct output output = {.silent = true};
	struct budget budget = {.size = 2 * MEMORY};
	uint64_t written = 0;
	struct spill spill;

	fill(&spill, &budget);
	assert_int_equal(spill.held, 0);
	budget.size = budget.used + memory;
	assert_int_equal(parts_give(&spill, rule, &key, &output, &written), stop);
	spill_close(&spill);
	assert_int_equal(budget.used, 0);
	*again = written > 0;
	return output.lines;
}

TEST(parts_of_parts)
{
	static const struct {
		struct rule rule;
		uint64_t count;
	} cases[] = {{{RULE_ANY, 0, 2}, TEXTS},
		     {{RULE_ALL, 0, 2}, TEXTS / 2},
		     {{RULE_ONCE, 0, 2}, TEXTS / 2},
		     {{RULE_FIRST, 0, 2}, TEXTS / 2},
		     {{RULE_LEAST, 2, 2}, TEXTS / 2}};
	bool again;

	for (uint32_t i = 0; i < amount(5, 5); i++) {
		assert_int_equal(given(&cases[i].rule, MEMORY, 0, &again), cases[i].count);
		assert_true(again);
	}
	assert_int_equal(given(&cases[0].rule, 64 << 20, 0, &again), cases[0].count);
	assert_false(again);
}

/* Where nothing helps, that is told. */
TEST(too_little)
{
	static const struct rule rule = {RULE_ANY, 0, 2};
	bool again;

	given(&rule, 8 << 10, -EINVAL, &again);
	assert_non_null(strstr(xb_error_message(), "more memory"));
}
