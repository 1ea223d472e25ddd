/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan says of parts that are too large for the memory: they are written once more. */
#include "bloomset/forecast.h"
#include "support/cmocka.h"

#define MIB ((uint64_t)1 << 20)

/* The bytes to be written of two files of so many MiB each, in lines of 64 bytes with their ends.
 */
static uint64_t writes(uint64_t size, uint64_t memory, bool most)
{
	struct input inputs[2] = {0};
	struct step steps[2] = {{.input = 0, .action = STEP_KEEP, .from = -1},
				{.input = 1, .action = STEP_KEEP, .from = -1}};
	struct plan plan = {.rule = {RULE_ANY, 0, 2},
			    .memory = memory * MIB,
			    .pool = memory * MIB / 4,
			    .steps = steps,
			    .count = 2};

	for (int i = 0; i < 2; i++) {
		inputs[i].text_bytes = size * MIB;
		inputs[i].text_lines = size * MIB / 64;
	}
	return forecast_writes(&plan, inputs, most) / MIB;
}

TEST(parts_that_are_written_again)
{
	assert_int_equal(writes(1, 16, true), 0);
	assert_int_equal(writes(200, 16, true), 400);
	/* 64 parts of 20 MiB, which take 30 in a table; but 15 if the files are alike. */
	assert_int_equal(writes(640, 16, true), 2560);
	assert_int_equal(writes(640, 16, false), 1280);
	assert_int_equal(writes(640, 64, true), 1280);
	/* Parts of parts that are too large, too. */
	assert_int_equal(writes(100000, 16, true), 600000);
}
