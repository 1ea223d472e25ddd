/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset common: what all files have, or so many of them. */
#include "bloomset/sets.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	{"min", "NUMBER", 'K', .help = "what so many files have at least; without it, all"},
	SETS_INPUT_OPTIONS,
	SETS_WORK_OPTIONS,
	SETS_OUTPUT_OPTIONS,
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct sets sets = {.options = options, .kind = RULE_LEAST, .files_least = 1};

	return sets_run(cli, argc, argv, &sets);
}

const struct verb verb_common = {
	.name = "common",
	.summary = "what all files have, or so many of them",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"common level1.netset level2.netset",
		     "common --min 3 lists/*.txt -o level3.txt"},
};
