/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help on all commands and on one. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "cli/completion.h"
#include "cli/suggest.h"
#include "cli/usage.h"

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
	printf("usage: %s %s\n", xb_program(), usage_line(verb, usage));
	if (verb->summary)
		printf("\n%s\n", verb->summary);
	if (verb->options) {
		puts("\noptions:");
		usage_print_options(verb->options);
	}
	puts("\nexamples:");
	for (size_t i = 0; i < sizeof(verb->examples) / sizeof(verb->examples[0]); i++)
		printf("  %s %s\n", xb_program(), verb->examples[i]);
	if (verb->below)
		puts("\ncommands:");
	for (const struct verb *const *below = verb->below; below && *below; below++)
		printf("  %s %s\n", xb_program(), usage_line(*below, usage));
	return cli_done(EXIT_DONE);
}

int help_all(const struct cli_program *program)
{
	char usage[USAGE_BYTES];
	int width = 8;

	for (const struct verb *const *verb = program->verbs; *verb; verb++)
		width = (int)strlen((*verb)->name) > width ? (int)strlen((*verb)->name) : width;
	printf("usage: %s %s COMMAND\n\n", xb_program(), usage_in_front(program->options, usage));
	for (const struct verb *const *verb = program->verbs; *verb; verb++) {
		if ((*verb)->group)
			printf("%s:\n", (*verb)->group);
		printf("  %-*s %s\n", width, (*verb)->name, (*verb)->summary);
	}
	puts("\noptions, before or after the command:");
	usage_print_options(program->options);
	printf("\n`%s help COMMAND` shows its options and two examples.\n%s\n", xb_program(),
	       program->closing);
	return cli_done(EXIT_DONE);
}

int help_run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? verb_find(cli->program->verbs, argv[1]) : NULL;
	char hint[SUGGEST_BYTES];

	if (argc == 1)
		return help_all(cli->program);
	if (argc == 2 && !strcmp(argv[1], "--completion"))
		return completion_print(cli->program);
	if (verb && (argc == 2 || (argc == 3 && verb_named(verb, 2, argv + 1) != verb)))
		return help(verb, argc - 1, argv + 1);
	if (!verb)
		xb_input_error("unknown command '%s'%s", argv[1],
			       suggest_verb(cli->program->verbs, argv[1], hint));
	else
		xb_input_error("'%s' has no command '%s'", argv[1], argv[2]);
	return cli_fail();
}
