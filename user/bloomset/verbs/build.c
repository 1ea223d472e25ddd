/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset build: a filter of what lists have. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

struct build {
	struct xb_filter_options options;
	uint64_t insertions;
	bool counted; /* they are told */
	double rate;
	const char *out, *like, *list_format;
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
	FILTERS_LIST_OPTIONS,
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
	case 'L':
		build->options.form = XB_FORM_LINES;
		return true;
	case 'F':
		build->list_format = optarg;
		return true;
	default:
		return false;
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
static int count_files(struct build *build, char **files, int count)
{
	int error = 0;

	for (int i = 0; !build->counted && !error && i < count; i++) {
		if (strcmp(files[i], "-") && access(files[i], F_OK) && errno == ENOENT)
			return xb_input_error("%s does not exist", files[i]);
		if (!elements_can_be_read_again(files[i]))
			return xb_input_error("%s can be read only once: say with -n for how many "
					      "the filter is to be",
					      strcmp(files[i], "-") ? files[i] : "standard input");
		error = elements_read(files[i], build->options.form, build->list_format, count_one,
				      &build->insertions);
	}
	return error;
}

static int make_like(const struct build *build, struct xb_filter **filter)
{
	struct xb_filter *model;
	int error = filters_open(build->like, XB_FILTER_ASK, build->options.funnel, &model);

	if (error)
		return error;
	error = xb_filter_allocate(&model->info, filter);
	if (!error)
		(*filter)->info.insertions = 0;
	xb_filter_free(model);
	return error;
}

static int make(struct build *build, char **files, int count, struct xb_filter **filter)
{
	int error;

	if (build->like)
		return make_like(build, filter);
	error = build->options.bits ? 0 : count_files(build, files, count);
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

static int fill(const struct cli *cli, const struct build *build, struct xb_filter *filter,
		char **files, int count)
{
	struct filling filling = {.filter = filter};
	int error = 0, ended;

	for (int i = 0; !error && i < count; i++)
		error = elements_read(files[i], filter->info.form, build->list_format, filling_take,
				      &filling);
	ended = filling_end(&filling);
	if (ended)
		error = ended;
	if (!error)
		error = filters_write(filter, build->out);
	return error ? cli_fail() : answer(cli, filter, &filling, build->out);
}

/* What does not go together; 0: all does. */
static int check(const struct cli *cli, const struct build *build, int files)
{
	if (!files)
		return cli_usage(cli, "build takes files, or -");
	if (!build->options.bits != !build->options.hashes)
		return cli_usage(cli, "--bits and --hashes belong together");
	if (build->like && build->own)
		return cli_usage(cli,
				 "--like makes it of the kind and size of another: leave %s out",
				 build->own);
	return 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct build build = {.rate = 0.01, .options = {.form = XB_FORM_ENTRIES}};
	struct xb_filter *filter = NULL;
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
	if (build.options.funnel >= XB_FUNNEL_INTEGER)
		build.options.form = XB_FORM_LINES;
	if (make(&build, argv + optind, argc - optind, &filter))
		return cli_fail();
	/* Guava's format does not say it, nor does the filter that this one is to be like. */
	if (xb_filter_is_guava(filter->info.kind))
		filter->info.form = build.options.form;
	code = fill(cli, &build, filter, argv + optind, argc - optind);
	xb_filter_free(filter);
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
