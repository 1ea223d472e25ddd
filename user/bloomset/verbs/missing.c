/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset missing: what the maker of a digest surely lacks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/output.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	FILTERS_THERE_OPTIONS,
	{0},
};

struct comparing {
	const struct xb_filter *filter;
	unsigned long long asked, missing;
	uint8_t *element;
	size_t room;
};

static int compare(void *to, const char *text, size_t size)
{
	struct comparing *comparing = to;
	struct xb_filter_hash hash;
	int error = filters_hash(&comparing->filter->info, text, size, &comparing->element,
				 &comparing->room, &hash);

	if (error)
		return error;
	comparing->asked++;
	if (xb_filter_has_hash(comparing->filter, hash))
		return 0;
	comparing->missing++;
	(void)fwrite(text, 1, size, stdout);
	putchar('\n');
	return ferror(stdout) ? OUTPUT_UNREAD : 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct filters_there there = {0};
	struct comparing comparing = {0};
	struct xb_filter *filter = NULL;
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!filters_there(cli, &there, option))
			return EXIT_USAGE;
	if (cli->json)
		return cli_usage(cli, "missing prints lines: leave out --json");
	if (argc - optind != 2)
		return cli_usage(cli, "missing takes a digest and a file");
	if (filters_open(argv[optind], XB_FILTER_ASK, there.funnel, &filter))
		return cli_fail();
	comparing.filter = filter;
	error = filters_settle(filter, &there);
	if (!error)
		error = elements_read_once(argv[optind + 1], &there.terms, compare, &comparing);
	if (!error && !cli->quiet)
		fprintf(stderr,
			"%llu of %llu are missing there; of each thousand that are, about "
			"%.2g more are not told\n",
			comparing.missing, comparing.asked, 1000 * xb_filter_expected_rate(filter));
	free(comparing.element);
	xb_filter_free(filter);
	return error && error != OUTPUT_UNREAD ? cli_fail() : cli_done(EXIT_DONE);
}

const struct verb verb_missing = {
	.name = "missing",
	.summary = "print what a list has, and the maker of a digest surely lacks",
	.operands = {{"DIGEST", .offers = OFFER_FILES}, {"FILE", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"missing theirs.digest ours.netset >for-them.txt",
		     "missing names.digest names.txt"},
};
