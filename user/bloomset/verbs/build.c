/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset build: a filter of what lists have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

struct build {
	struct xb_filter_options options;
	uint64_t insertions;
	bool counted; /* they are told */
	bool rated;   /* the rate is told */
	double rate;
	const char *out, *like;
	struct input_terms terms;
	const char *own; /* the first option that says what --like says, too; NULL: none */
};

static const struct option_spec options[] = {
	{"output", "FILE", 'o', .help = "the filter becomes this file when it is complete",
	 .offers = OFFER_FILES, .letter = 'o', .needed = true},
	{"insertions", "NUMBER", 'n', .letter = 'n',
	 .help = "make it for so many; without it, files are read twice"},
	{"rate", "RATE", 'p', .letter = 'p', .offers = OFFER_RATES,
	 .help = "its rate of false positives when they are in (0.01)"},
	{"bits", "NUMBER", 'm', .help = "make it of so many bits, instead"},
	{"hashes", "NUMBER", 'k', .help = "and with so many hashes"},
	{"format", "standard|blocked|guava|guava-32", 'f',
	 .help = "how bits are chosen and written; guava: MURMUR128_MITZ_64"},
	{"counting", NULL, 'c', .help = "with counters, so that del can take out"},
	{"like", "FILTER", 'l', .offers = OFFER_FILES,
	 .help = "an empty one of the sizes and the key of this one, to be filled"},
	FILTERS_FUNNEL_OPTION,
	READING_LINES_OPTION,
	READING_OPTIONS("list-format"),
	{0},
};

static bool take_format(const struct cli *cli, struct build *build, const char *word)
{
	static const char *const words[] = {"standard", "blocked", "guava-32", "guava"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], word)) {
			build->options.kind = (enum xb_filter_kind)i;
			return true;
		}
	cli_usage(cli, "--format is standard, blocked, guava or guava-32, not '%s'", XB_SHOW(word));
	return false;
}

/* The options that --like is instead of. */
static const char *own_option(int option)
{
	switch (option) {
	case 'n':
		return "-n";
	case 'p':
		return "-p";
	case 'm':
		return "--bits";
	case 'k':
		return "--hashes";
	case 'f':
		return "--format";
	case 'c':
		return "--counting";
	default:
		return NULL;
	}
}

static bool take_option(const struct cli *cli, struct build *build, int option)
{
	uint64_t number;

	build->own = build->own ?: own_option(option);
	switch (option) {
	case 'o':
		build->out = optarg;
		return true;
	case 'n':
		build->counted = true;
		return cli_number(cli, "-n", optarg, 0, XB_FILTER_BITS_MAX, &build->insertions);
	case 'p':
		build->rated = true;
		return filters_rate(cli, "-p", optarg, &build->rate);
	case 'm':
		return cli_number(cli, "--bits", optarg, 1, XB_FILTER_BITS_MAX,
				  &build->options.bits);
	case 'k':
		if (!cli_number(cli, "--hashes", optarg, 1, XB_FILTER_HASHES_MAX, &number))
			return false;
		build->options.hashes = (uint32_t)number;
		return true;
	case 'f':
		return take_format(cli, build, optarg);
	case 'c':
		build->options.counting = true;
		return true;
	case 'l':
		build->like = optarg;
		return true;
	case 'U':
		return filters_funnel(cli, optarg, &build->options.funnel);
	default:
		return reading_option(cli, &build->terms, option);
	}
}

static int count_one(void *to, const char *text, size_t size)
{
	(void)text;
	(void)size;
	++*(uint64_t *)to;
	return 0;
}

/* How many there are, if nobody said it. */
static int count_files(struct build *build, struct input *inputs, int count)
{
	int error = 0;

	for (int i = 0; !build->counted && !error && i < count; i++) {
		if (!inputs[i].again)
			return xb_input_error("%s can be read only once: say with -n for how many "
					      "the filter is to be",
					      inputs[i].name);
		error = elements_read(&inputs[i], &build->terms, count_one, &build->insertions);
	}
	return error;
}

static int make_like(const struct build *build, struct xb_filter **filter)
{
	struct xb_filter *model;
	int error = filters_open(build->like, XB_FILTER_ASK, build->options.funnel, &model);

	if (error)
		return error;
	if (build->terms.lines && model->info.form == XB_FORM_ENTRIES &&
	    !xb_filter_is_guava(model->info.kind))
		error = xb_input_error("%s has entries: leave --lines out", build->like);
	if (!error)
		error = xb_filter_allocate(&model->info, filter);
	if (!error)
		(*filter)->info.insertions = 0;
	xb_filter_free(model);
	return error;
}

static int make(struct build *build, struct input *inputs, int count, struct xb_filter **filter)
{
	int error;

	if (build->like)
		return make_like(build, filter);
	error = build->options.bits ? 0 : count_files(build, inputs, count);
	/* By hand, what it is made for follows from its sizes: m/k ln 2 fill half of the bits. */
	if (build->options.bits && !build->counted)
		build->insertions =
			(uint64_t)((double)build->options.bits / build->options.hashes * 0.693147 +
				   0.5);
	return error ? error
		     : xb_filter_create(build->insertions, build->rate, &build->options, filter);
}

static int answer(const struct cli *cli, const struct xb_filter *filter,
		  const struct filling *filling, const char *out)
{
	struct xb_filter_info info = xb_filter_inspect(filter);
	FILE *to = strcmp(out, "-") ? stdout : stderr;
	double rate = xb_filter_expected_rate(filter);

	filters_warn_if_full(filter);
	if (cli->json && to == stdout)
		return cli_json(cli,
				json_pack("{s:I,s:I,s:I,s:i,s:f}", "put", (json_int_t)filling->put,
					  "new", (json_int_t)filling->new, "bits",
					  (json_int_t)info.bits, "hashes", (int)info.hashes,
					  "expected_rate", rate));
	if (!cli->quiet)
		fprintf(to,
			"%llu put, %llu of them new; %llu bits, %u hashes, %llu bits set: "
			"expected rate %s\n",
			filling->put, filling->new, (unsigned long long)info.bits, info.hashes,
			(unsigned long long)info.set_bits, XB_NUMBER(rate));
	return cli_done(EXIT_DONE);
}

static int fill(const struct cli *cli, struct build *build, struct xb_filter *filter,
		struct input *inputs, int count)
{
	struct filling filling = {.filter = filter};
	int error = filters_form(filter, &build->terms), ended;

	for (int i = 0; !error && i < count; i++)
		error = elements_read(&inputs[i], &build->terms, filling_take, &filling);
	ended = filling_end(&filling);
	if (ended)
		error = ended;
	if (!error)
		error = filters_replace(filter, build->out);
	return error ? filters_failed(error) : answer(cli, filter, &filling, build->out);
}

/* What does not go together; 0: all does. */
static int check(const struct cli *cli, const struct build *build, int files)
{
	if (!files)
		return cli_usage(cli, "build takes files, or -");
	if (!build->options.bits != !build->options.hashes)
		return cli_usage(cli, "--bits and --hashes belong together");
	if (build->options.bits && build->rated)
		return cli_usage(cli, "the rate follows from --bits and --hashes: leave -p out");
	if (!reading_is_sensible(cli, &build->terms))
		return EXIT_USAGE;
	if (build->like && build->own)
		return cli_usage(cli,
				 "--like makes it of the kind and size of another: leave %s out",
				 build->own);
	return 0;
}

static int make_and_fill(const struct cli *cli, struct build *build, struct input *inputs,
			 char **files, int count)
{
	struct xb_filter *filter = NULL;
	int code, error = 0;

	for (int i = 0; !error && i < count; i++)
		error = elements_look(&inputs[i], files[i]);
	if (error || make(build, inputs, count, &filter))
		return cli_fail();
	/* Guava's format does not say it, nor does the filter that this one is to be like. */
	if (xb_filter_is_guava(filter->info.kind))
		filter->info.form = build->options.form;
	code = fill(cli, build, filter, inputs, count);
	xb_filter_free(filter);
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct build build = {.rate = 0.01};
	struct input *inputs;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option == '?' || !take_option(cli, &build, option))
			return EXIT_USAGE;
	if (!build.out)
		return cli_usage(cli, "-o is missing: where the filter is to be written");
	code = check(cli, &build, argc - optind);
	if (code)
		return code;
	/* Of numbers and bytes, there are lines alone. */
	build.terms.lines |= build.options.funnel >= XB_FUNNEL_INTEGER;
	build.options.form = build.terms.lines ? XB_FORM_LINES : XB_FORM_ENTRIES;
	inputs = calloc((size_t)(argc - optind) + 1, sizeof(*inputs));
	if (!inputs) {
		xb_out_of_memory();
		return cli_fail();
	}
	code = make_and_fill(cli, &build, inputs, argv + optind, argc - optind);
	free(inputs);
	return code;
}

const struct verb verb_build = {
	.name = "build",
	.summary = "make a filter of what lists have",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"build level1.netset -p 0.001 -o level1.bloom",
		     "build --lines animals.txt --bits 100 --hashes 3 -o animals.bloom"},
};
