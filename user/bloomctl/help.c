/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help on one command, from its usage line. */
#include "help.h"

#include <stdio.h>
#include <string.h>

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

int help(const struct verb *verb, int argc, char **argv)
{
	const struct verb *below;

	verb = named(verb, argc, argv);
	below = verbs_below(verb);
	printf("usage: bloomctl %s\n", verb->usage);
	for (; below && below->name; below++)
		printf("       bloomctl %s\n", below->usage);
	return cli_done(EXIT_DONE);
}
