/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset digest: a small file by which another side finds what this one lacks. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

struct digest {
	const char *out, *list_format;
	double rate; /* 0: by what may be lacking */
	uint64_t lacking;
	bool told; /* how much may be lacking */
	enum xb_filter_form form;
};

static const struct option_spec options[] = {
	{"output", "FILE", 'o', .help = "the digest becomes this file when it is complete",
	 .offers = OFFER_FILES, .letter = 'o', .needed = true},
	{"lacking", "NUMBER", 'n',
	 .help = "so many entries may be lacking here; without it, as many as there are"},
	{"rate", "RATE", 'p', .letter = 'p', .offers = OFFER_RATES,
	 .help = "the share of them that one round may miss, instead"},
	FILTERS_LIST_OPTIONS,
	{0},
};

static int count_one(void *to, const char *text, size_t size)
{
	(void)text;
	(void)size;
	++*(uint64_t *)to;
	return 0;
}

/* What the second of two digests with keys of their own misses, too, of so many: n p^2. It is to be
 * less than one in a hundred such exchanges. */
static double rate_for(uint64_t lacking)
{
	double rate = sqrt(0.01 / (double)(lacking ? lacking : 1));

	return rate < 0.1 ? rate : 0.1;
}

static int fill(const struct digest *digest, const char *path, struct xb_filter *filter)
{
	struct filling filling = {.filter = filter};
	int error = elements_read(path, digest->form, digest->list_format, filling_take, &filling);
	int ended = filling_end(&filling);

	if (ended)
		error = ended;
	return error ? error : filters_write(filter, digest->out);
}

static void tell(const struct cli *cli, const struct xb_filter *filter, uint64_t lacking)
{
	double rate = xb_filter_expected_rate(filter);

	if (cli->quiet)
		return;
	fprintf(stderr,
		"%s for %llu; of %llu that may be lacking here, one round misses about %.2g, "
		"a second one with another digest about %.2g\n",
		cli_bytes(sizeof(uint64_t) * 16 + xb_filter_bits_bytes(&filter->info)),
		(unsigned long long)filter->info.insertions, (unsigned long long)lacking,
		(double)lacking * rate, (double)lacking * rate * rate);
}

static int make(const struct cli *cli, struct digest *digest, const char *path)
{
	struct xb_filter_options made = {.form = digest->form};
	struct xb_filter *filter = NULL;
	uint64_t count = 0;
	int error;

	error = elements_read(path, digest->form, digest->list_format, count_one, &count);
	if (!digest->told)
		digest->lacking = count;
	if (!error)
		error = xb_filter_create(
			count, digest->rate > 0 ? digest->rate : rate_for(digest->lacking), &made,
			&filter);
	if (!error)
		error = fill(digest, path, filter);
	if (!error)
		tell(cli, filter, digest->lacking);
	xb_filter_free(filter);
	return error ? cli_fail() : cli_done(EXIT_DONE);
}

static bool take_option(const struct cli *cli, struct digest *digest, int option)
{
	switch (option) {
	case 'o':
		digest->out = optarg;
		return true;
	case 'n':
		digest->told = true;
		return cli_number(cli, "--lacking", optarg, 1, XB_FILTER_BITS_MAX,
				  &digest->lacking);
	case 'p':
		return filters_rate(cli, "-p", optarg, &digest->rate);
	case 'L':
		digest->form = XB_FORM_LINES;
		return true;
	case 'F':
		digest->list_format = optarg;
		return true;
	default:
		return false;
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct digest digest = {.form = XB_FORM_ENTRIES};
	char room[ELEMENTS_SPOOL_PATH];
	const char *path;
	int option, spooled, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, &digest, option))
			return EXIT_USAGE;
	if (!digest.out)
		return cli_usage(cli, "-o is missing: where the digest is to be written");
	if (argc - optind != 1)
		return cli_usage(cli, "digest takes one file");
	path = elements_spool(argv[optind], room, &spooled);
	code = path ? make(cli, &digest, path) : cli_fail();
	if (spooled >= 0)
		close(spooled);
	return code;
}

const struct verb verb_digest = {
	.name = "digest",
	.summary = "make a small file by which another side finds what is lacking here",
	.operands = {{"FILE", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"digest blocked.netset -o blocked.digest",
		     "digest --lines names.txt --lacking 1000 -o names.digest"},
};
