/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset clear: a filter empty again, with its sizes and its key. */
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {{0}};

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_filter *filter = NULL;
	int lock = -1, error;

	if (cli_option(cli, argc, argv, options) != -1)
		return EXIT_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "clear takes one filter");
	error = filters_open_locked(argv[optind], XB_FUNNEL_STRING, &filter, &lock);
	if (!error) {
		xb_filter_clear(filter);
		error = xb_filter_write(filter, argv[optind]);
	}
	xb_filter_free(filter);
	filters_unlock(lock);
	if (error)
		return cli_fail();
	return cli->json ? cli_json(cli, json_pack("{s:b}", "cleared", 1)) : cli_done(EXIT_DONE);
}

const struct verb verb_clear = {
	.name = "clear",
	.summary = "empty a filter; it keeps its sizes and its key",
	.operands = {{"FILTER", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"clear today.bloom", "clear seen.bloom"},
};
