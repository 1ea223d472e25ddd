/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset test: what a filter says of elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/output.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	{"from", "FILE", 'f', .offers = OFFER_FILES, .help = "ask for what this list has, too"},
	{"only", "present|absent", 'o',
	 .help = "print only these, as they are: in perhaps, or surely not"},
	FILTERS_THERE_OPTIONS,
	{0},
};

struct asking {
	const struct cli *cli;
	const struct xb_filter *filter;
	const char *only; /* NULL: both */
	unsigned long long present, absent;
	uint8_t *element;
	size_t room;
	json_t *answers; /* NULL: none is wanted */
};

static int ask(void *to, const char *text, size_t size)
{
	struct asking *asking = to;
	struct xb_filter_hash hash;
	bool present;
	int error = filters_hash(&asking->filter->info, text, size, &asking->element, &asking->room,
				 &hash);

	if (error)
		return error;
	present = xb_filter_has_hash(asking->filter, hash);
	asking->present += present;
	asking->absent += !present;
	if (asking->only && strcmp(asking->only, present ? "present" : "absent"))
		return 0;
	if (asking->answers) {
		char *shown = malloc(size + 1);

		if (!shown)
			return xb_out_of_memory();
		json_array_append_new(asking->answers,
				      json_pack("{s:s,s:b}", "element",
						xb_utf8_show(text, size, shown, size + 1),
						"present", (int)present));
		free(shown);
	} else if (!asking->cli->quiet) {
		(void)fwrite(text, 1, size, stdout);
		puts(asking->only ? "" : present ? ": perhaps" : ": surely not");
	}
	return ferror(stdout) ? OUTPUT_UNREAD : 0;
}

static int ask_all(struct asking *asking, const char *from, const struct input_terms *terms,
		   char **words, int count)
{
	int error = elements_take_words(words, count, asking->filter->info.form, ask, asking);

	if (!error && from)
		error = elements_read_once(from, terms, ask, asking);
	free(asking->element);
	if (error == OUTPUT_UNREAD)
		return cli_done(EXIT_DONE);
	if (error) {
		json_decref(asking->answers);
		return cli_fail();
	}
	if (asking->answers) {
		int code = cli_json(asking->cli,
				    json_pack("{s:o,s:I,s:I}", "elements", asking->answers,
					      "present", (json_int_t)asking->present, "absent",
					      (json_int_t)asking->absent));

		if (code)
			return code;
	}
	return cli_done(asking->absent ? EXIT_ABSENT : EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct filters_there there = {0};
	const char *from = NULL;
	struct asking asking = {.cli = cli};
	struct xb_filter *filter = NULL;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'f')
			from = optarg;
		else if (option == 'o')
			asking.only = optarg;
		else if (!filters_there(cli, &there, option))
			return EXIT_USAGE;
	}
	if (asking.only && strcmp(asking.only, "present") && strcmp(asking.only, "absent"))
		return cli_usage(cli, "--only takes present or absent");
	if (argc - optind < (from ? 1 : 2))
		return cli_usage(cli, "test takes a filter, and elements or --from");
	if (filters_open(argv[optind], XB_FILTER_ASK, there.funnel, &filter))
		return cli_fail();
	asking.filter = filter;
	asking.answers = cli->json ? json_array() : NULL;
	if (filters_settle(filter, &there))
		code = cli_fail();
	else
		code = ask_all(&asking, from, &there.terms, argv + optind + 1, argc - optind - 1);
	xb_filter_free(filter);
	return code;
}

const struct verb verb_test = {
	.name = "test",
	.summary = "say whether elements are perhaps in a filter, or surely not",
	.operands = {{"FILTER", .offers = OFFER_FILES}, {"ELEMENT...", .optional = true}},
	.options = options,
	.run = run,
	.examples = {"test level1.bloom 192.0.2.7",
		     "test level1.bloom --from seen.txt --only absent"},
};
