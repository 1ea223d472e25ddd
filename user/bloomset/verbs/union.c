/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset union: what any file has, each once. */
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
	static const struct sets sets = {.options = options, .kind = RULE_ANY, .files_least = 1};

	return sets_run(cli, argc, argv, &sets);
}

const struct verb verb_union = {
	.name = "union",
	.summary = "what any file has, each once",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"union level1.netset level2.netset", "union --lines a.txt b.txt -o all.txt"},
};
