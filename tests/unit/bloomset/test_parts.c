/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is parted on disk, with so little memory that parts are parted again: each text once, and in
 * as many files as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/parts.h"
#include "bloomset/texthash.h"
#include "support/amount.h"
#include "support/cmocka.h"

#define TEXTS  240000
#define MEMORY (256U << 10)
#define CASES  5

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
	} cases[CASES] = {
		{{RULE_ANY, 0, 2}, TEXTS},	 {{RULE_ALL, 0, 2}, TEXTS / 2},
		{{RULE_ONCE, 0, 2}, TEXTS / 2},	 {{RULE_FIRST, 0, 2}, TEXTS / 2},
		{{RULE_LEAST, 2, 2}, TEXTS / 2},
	};
	bool again;

	for (uint32_t i = 0; i < amount(CASES, CASES); i++) {
		assert_int_equal(given(&cases[i].rule, MEMORY, 0, &again), cases[i].count);
		assert_true(again);
		assert_int_equal(given(&cases[i].rule, 64 << 20, 0, &again), cases[i].count);
		assert_false(again);
	}
}

/* Where nothing helps, that is told. */
TEST(too_little)
{
	static const struct rule rule = {RULE_ANY, 0, 2};
	bool again;

	given(&rule, 8 << 10, -EINVAL, &again);
	assert_non_null(strstr(xb_error_message(), "more memory"));
}
