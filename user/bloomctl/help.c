/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl help: on all commands and on one. */
#include "bloomctl/help.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/completion.h"
#include "bloomctl/globaloptions.h"
#include "bloomctl/suggest.h"
#include "bloomctl/usage.h"

bool help_wanted(const struct verb *verb, int argc, char **argv)
{
	verb = verb_named(verb, argc, argv);
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return true;
		i += option_takes_next(verb->options, argv[i]);
	}
	return false;
}

int help(const struct verb *verb, int argc, char **argv)
{
	char usage[USAGE_BYTES];

	verb = verb_named(verb, argc, argv);
	printf("usage: bloomctl %s\n", usage_line(verb, usage));
	if (verb->summary)
		printf("\n%s\n", verb->summary);
	if (verb->options) {
		puts("\noptions:");
		usage_print_options(verb->options);
	}
	puts("\nexamples:");
	for (size_t i = 0; i < sizeof(verb->examples) / sizeof(verb->examples[0]); i++)
		printf("  bloomctl %s\n", verb->examples[i]);
	if (verb->below)
		puts("\ncommands:");
	for (const struct verb *const *below = verb->below; below && *below; below++)
		printf("  bloomctl %s\n", usage_line(*below, usage));
	return cli_done(EXIT_DONE);
}

int help_all(const struct verb *const *verbs)
{
	char usage[USAGE_BYTES];

	printf("usage: bloomctl %s COMMAND\n\n", usage_in_front(global_options, usage));
	for (; *verbs; verbs++)
		printf("  %-8s %s\n", (*verbs)->name, (*verbs)->summary);
	puts("\noptions, before or after the command:");
	usage_print_options(global_options);
	puts("\n`bloomctl help COMMAND` shows its options and two examples.\n"
	     "ENTRY: an address, ADDRESS/LENGTH, or a domain, which stands for all names below it "
	     "too;\n"
	     "       =NAME: that name alone\n"
	     "SECONDS: a number, or one with a unit: 90s, 15m, 1h, 30d, 2w");
	return cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? verb_find(cli->verbs, argv[1]) : NULL;
	char hint[SUGGEST_BYTES];

	if (argc == 1)
		return help_all(cli->verbs);
	if (argc == 2 && !strcmp(argv[1], "--completion"))
		return completion_print(cli->verbs);
	if (verb && (argc == 2 || (argc == 3 && verb_named(verb, 2, argv + 1) != verb)))
		return help(verb, argc - 1, argv + 1);
	if (!verb)
		xb_input_error("unknown command '%s'%s", argv[1],
			       suggest_verb(cli->verbs, argv[1], hint));
	else
		xb_input_error("'%s' has no command '%s'", argv[1], argv[2]);
	return cli_fail();
}

const struct verb verb_help = {
	.name = "help",
	.summary = "show this list, or how to use a command",
	.operands = {{"COMMAND", .optional = true, .offers = OFFER_COMMANDS}},
	.run = run,
	.examples = {"help", "help import"},
};
