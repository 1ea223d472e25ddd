/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset diff: what the first file has and none of the others. */
#include "bloomset/sets.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	SETS_INPUT_OPTIONS,
	SETS_WORK_OPTIONS,
	SETS_OUTPUT_OPTIONS,
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct sets sets = {.options = options, .kind = RULE_FIRST, .files_least = 2};

	return sets_run(cli, argc, argv, &sets);
}

const struct verb verb_diff = {
	.name = "diff",
	.summary = "what the first file has and none of the others",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"diff new.netset old.netset", "diff --lines all.txt known.txt -o unknown.txt"},
};
