/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset add: elements into a filter that is there. */
#include "bloomset/changing.h"
#include "bloomset/verbs.h"

static int run(struct cli *cli, int argc, char **argv)
{
	return changing_run(cli, argc, argv, false);
}

const struct verb verb_add = {
	.name = "add",
	.summary = "put elements into a filter",
	.operands = {{"FILTER", .offers = OFFER_FILES}, {"ELEMENT...", .optional = true}},
	.options = changing_options,
	.run = run,
	.examples = {"add seen.bloom 192.0.2.7", "add seen.bloom --from today.netset"},
};
