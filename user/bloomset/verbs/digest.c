/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset digest: a small file by which another side finds what this one lacks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

struct digest {
	const char *out;
	double rate; /* 0: by what may be lacking */
	uint64_t lacking;
	bool told; /* how much may be lacking */
	struct input_terms terms;
};

static const struct option_spec options[] = {
	{"output", "FILE", 'o', .help = "the digest becomes this file when it is complete",
	 .offers = OFFER_FILES, .letter = 'o', .needed = true},
	{"lacking", "NUMBER", 'n',
	 .help = "so many entries may be lacking here; without it, as many as there are"},
	{"rate", "RATE", 'p', .letter = 'p', .offers = OFFER_RATES,
	 .help = "the share of them that one round may miss, instead"},
	READING_LINES_OPTION,
	READING_OPTIONS("list-format"),
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

static int fill(const struct digest *digest, struct input *input, struct xb_filter *filter)
{
	struct filling filling = {.filter = filter};
	int error = elements_read(input, &digest->terms, filling_take, &filling);
	int ended = filling_end(&filling);

	if (ended)
		error = ended;
	return error ? error : filters_replace(filter, digest->out);
}

static int answer(const struct cli *cli, const struct digest *digest,
		  const struct xb_filter *filter)
{
	uint64_t bytes = sizeof(uint64_t) * 16 + xb_filter_bits_bytes(&filter->info),
		 lacking = digest->lacking;
	double rate = xb_filter_expected_rate(filter);

	if (cli->json && strcmp(digest->out, "-"))
		return cli_json(cli, json_pack("{s:I,s:I,s:I,s:f}", "put",
					       (json_int_t)filter->info.insertions, "bytes",
					       (json_int_t)bytes, "lacking", (json_int_t)lacking,
					       "expected_rate", rate));
	if (cli->quiet)
		return cli_done(EXIT_DONE);
	fprintf(stderr,
		"%s for %llu; of %llu that may be lacking here, one round misses about %.2g, "
		"a second one with another digest about %.2g\n",
		cli_bytes(bytes), (unsigned long long)filter->info.insertions,
		(unsigned long long)lacking, (double)lacking * rate, (double)lacking * rate * rate);
	return cli_done(EXIT_DONE);
}

static int make(const struct cli *cli, struct digest *digest, struct input *input)
{
	struct xb_filter_options made = {.form = digest->terms.lines ? XB_FORM_LINES
								     : XB_FORM_ENTRIES};
	struct xb_filter *filter = NULL;
	uint64_t count = 0;
	int error, code;

	error = elements_read(input, &digest->terms, count_one, &count);
	if (!digest->told)
		digest->lacking = count;
	if (!error)
		error = xb_filter_create(
			count, digest->rate > 0 ? digest->rate : rate_for(digest->lacking), &made,
			&filter);
	if (!error)
		error = fill(digest, input, filter);
	code = error ? filters_failed(error) : answer(cli, digest, filter);
	xb_filter_free(filter);
	return code;
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
	default:
		return reading_option(cli, &digest->terms, option);
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct digest digest = {0};
	struct elements_spool spool = {.fd = -1};
	struct input input;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, &digest, option))
			return EXIT_USAGE;
	if (!digest.out)
		return cli_usage(cli, "-o is missing: where the digest is to be written");
	if (argc - optind != 1)
		return cli_usage(cli, "digest takes one file");
	if (!reading_is_sensible(cli, &digest.terms))
		return EXIT_USAGE;
	if (elements_look(&input, argv[optind]) || elements_spool(&input, &spool))
		code = cli_fail();
	else
		code = make(cli, &digest, &input);
	elements_spool_close(&spool);
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
