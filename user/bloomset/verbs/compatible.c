/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset compatible: whether filters can be merged. */
#include <stdio.h>

#include "bloomset/filters.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {{0}};

static int answer(const struct cli *cli, const char *difference)
{
	if (cli->json) {
		int code = cli_json(cli, json_pack("{s:b,s:s?}", "compatible", !difference,
						   "difference", difference));

		return code ? code : difference ? EXIT_ABSENT : EXIT_DONE;
	}
	if (!cli->quiet)
		printf("%s%s\n", difference ? "not compatible: " : "compatible",
		       difference ? difference : "");
	return cli_done(difference ? EXIT_ABSENT : EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_filter *one = NULL, *other = NULL;
	int code;

	if (cli_option(cli, argc, argv, options) != -1)
		return EXIT_USAGE;
	if (argc - optind != 2)
		return cli_usage(cli, "compatible takes two filters");
	if (filters_open(argv[optind], XB_FILTER_ASK, XB_FUNNEL_STRING, &one) ||
	    filters_open(argv[optind + 1], XB_FILTER_ASK, XB_FUNNEL_STRING, &other))
		code = cli_fail();
	else
		code = answer(cli, xb_filter_difference(one, other));
	xb_filter_free(one);
	xb_filter_free(other);
	return code;
}

const struct verb verb_compatible = {
	.name = "compatible",
	.summary = "say whether two filters can be merged; exit 1: they cannot",
	.operands = {{"FILTER", .offers = OFFER_FILES}, {"FILTER", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"compatible monday.bloom tuesday.bloom",
		     "compatible -q ours.bloom theirs.bloom"},
};
