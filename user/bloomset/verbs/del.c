/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset del: elements out of a counting filter. */
#include "bloomset/changing.h"
#include "bloomset/verbs.h"

static int run(struct cli *cli, int argc, char **argv)
{
	return changing_run(cli, argc, argv, true);
}

const struct verb verb_del = {
	.name = "del",
	.summary = "take elements out of a counting filter, all or none; exit 1: one was surely "
		   "not in",
	.operands = {{"FILTER", .offers = OFFER_FILES}, {"ELEMENT...", .optional = true}},
	.options = changing_options,
	.run = run,
	.examples = {"del seen.bloom 192.0.2.7", "del seen.bloom --from gone.netset"},
};
