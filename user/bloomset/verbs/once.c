/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset once: what occurs exactly once, in all files together. */
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
	static const struct sets sets = {.options = options, .kind = RULE_ONCE, .files_least = 1};

	return sets_run(cli, argc, argv, &sets);
}

const struct verb verb_once = {
	.name = "once",
	.summary = "what occurs exactly once, in all files together",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"once today.txt yesterday.txt",
		     "once --lines --memory 1G names.txt -o single.txt"},
};
