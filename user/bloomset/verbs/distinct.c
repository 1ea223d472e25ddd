/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset distinct: how many different entries there are in files. */
#include "bloomset/sets.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	{"approximate", NULL, 'a', .help = "by the fill of a Bloom filter: about, in one reading"},
	SETS_INPUT_OPTIONS,
	SETS_WORK_OPTIONS,
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static const struct sets sets = {
		.options = options, .kind = RULE_ANY, .files_least = 1, .counts = true};

	return sets_run(cli, argc, argv, &sets);
}

const struct verb verb_distinct = {
	.name = "distinct",
	.summary = "how many different entries there are in files",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"distinct level1.netset level2.netset",
		     "distinct --lines --approximate names.txt"},
};
