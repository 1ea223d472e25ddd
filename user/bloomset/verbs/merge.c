/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset merge: the union of filters. */
#include <string.h>

#include "bloomset/filters.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	{"output", "FILE", 'o', .help = "the union becomes this file when it is complete",
	 .offers = OFFER_FILES, .letter = 'o', .needed = true},
	{0},
};

static int merge_one(struct xb_filter *filter, const char *path)
{
	struct xb_filter *other;
	int error = filters_open(path, XB_FILTER_ASK, filter->info.funnel, &other);

	if (error)
		return error;
	error = xb_error_prefix(xb_filter_put_all(filter, other), "%s", path);
	xb_filter_free(other);
	return error;
}

static int answer(const struct cli *cli, const struct xb_filter *filter, const char *out)
{
	struct xb_filter_info info = xb_filter_inspect(filter);

	filters_warn_if_full(filter);
	if (!cli->json || !strcmp(out, "-"))
		return cli_done(EXIT_DONE);
	return cli_json(cli, json_pack("{s:I,s:I,s:f}", "bits", (json_int_t)info.bits, "set_bits",
				       (json_int_t)info.set_bits, "expected_rate",
				       xb_filter_expected_rate(filter)));
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_filter *filter = NULL;
	const char *out = NULL;
	int option, error, code, lock = -1;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		out = optarg;
	}
	if (!out)
		return cli_usage(cli, "-o is missing: where the filter is to be written");
	if (argc - optind < 2)
		return cli_usage(cli, "merge takes two filters or more");
	/* It may be one of those that are read. */
	error = filters_lock(out, &lock);
	if (!error)
		error = filters_open(argv[optind], XB_FILTER_CHANGE, XB_FUNNEL_STRING, &filter);
	for (int i = optind + 1; !error && i < argc; i++)
		error = merge_one(filter, argv[i]);
	if (!error)
		error = filters_write(filter, out);
	code = error ? filters_failed(error) : answer(cli, filter, out);
	xb_filter_free(filter);
	filters_unlock(lock);
	return code;
}

const struct verb verb_merge = {
	.name = "merge",
	.summary = "make the union of compatible filters",
	.operands = {{"FILTER...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"merge monday.bloom tuesday.bloom -o both.bloom",
		     "merge *.bloom -o week.bloom"},
};
