/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help on all commands and on one, from their usage lines and examples. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "suggest.h"

static const struct verb *verbs_below(const struct verb *verb)
{
	return verb->run == verb_allow ? allow_verbs : NULL;
}

/* The verb itself, or the one below it that the arguments name. */
static const struct verb *named(const struct verb *verb, int argc, char **argv)
{
	const struct verb *below = verbs_below(verb);

	below = below && argc > 1 ? verb_find(below, argv[1]) : NULL;
	return below ? below : verb;
}

/* By the usage line: behind the option, which may be shortened, stands a value. */
static bool takes_value(const struct verb *verb, const char *option)
{
	const char *found = strncmp(option, "--", 2) ? NULL : strstr(verb->usage, option);

	if (!found)
		return false;
	return found[strcspn(found, " ]")] == ' ';
}

bool help_takes_value(const struct verb *verb, int argc, char **argv, const char *option)
{
	return takes_value(named(verb, argc, argv), option);
}

bool help_wanted(const struct verb *verb, int argc, char **argv)
{
	verb = named(verb, argc, argv);
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return true;
		i += takes_value(verb, argv[i]);
	}
	return false;
}

static void print_usage(const struct verb *verb)
{
	printf("usage: bloomctl %s\n", verb->usage);
	if (verb->summary)
		printf("\n%s\n", verb->summary);
	puts("\nexamples:");
	for (size_t i = 0; i < sizeof(verb->examples) / sizeof(verb->examples[0]); i++)
		printf("  bloomctl %s\n", verb->examples[i]);
}

int help(const struct verb *verb, int argc, char **argv)
{
	const struct verb *below;

	verb = named(verb, argc, argv);
	below = verbs_below(verb);
	print_usage(verb);
	if (below)
		puts("\ncommands:");
	for (; below && below->name; below++)
		printf("  bloomctl %s\n", below->usage);
	return cli_done(EXIT_DONE);
}

int help_all(const struct verb *verbs)
{
	puts("usage: bloomctl [-j] [-p] [-q|-v] [--wait SECONDS] [--state DIR] [--pin DIR] "
	     "[--run DIR] COMMAND\n");
	for (const struct verb *verb = verbs; verb->name; verb++)
		printf("  %-8s %s\n", verb->name, verb->summary);
	puts("\n`bloomctl help COMMAND` shows its options and two examples.\n"
	     "ENTRY: IPv4, IPv4/length, IPv6, IPv6/length, or a domain with all below it; "
	     "=NAME: that name alone\n"
	     "SECONDS: a number, also with a unit: 90s, 15m, 1h, 30d, 2w");
	return cli_done(EXIT_DONE);
}

int verb_help(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? verb_find(cli->verbs, argv[1]) : NULL;
	char hint[SUGGEST_BYTES];

	if (argc == 1)
		return help_all(cli->verbs);
	if (verb && (argc == 2 ||
		     (argc == 3 && verbs_below(verb) && verb_find(verbs_below(verb), argv[2]))))
		return help(verb, argc - 1, argv + 1);
	if (!verb)
		xb_input_error("unknown command '%s'%s", argv[1],
			       suggest_verb(cli->verbs, argv[1], hint));
	else
		xb_input_error("'%s' has no command '%s'", argv[1], argv[2]);
	return cli_fail();
}
