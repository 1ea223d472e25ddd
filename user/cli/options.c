/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where option_next() began to look. */
static int began;

int option_next(const struct option_spec *table, const char *letters, int argc, char **argv)
{
	struct option options[OPTIONS_MAX + 1] = {0};
	size_t count = 0;

	for (; table && table->name; table++) {
		if (!table->id)
			continue;
		if (count == OPTIONS_MAX)
			abort(); /* rather than not to know the last ones */
		options[count++] =
			(struct option){table->name, table->value ? required_argument : no_argument,
					NULL, table->id};
	}
	began = optind ? optind : 1;
	return getopt_long(argc, argv, letters, options, NULL);
}

/* getopt_long() passes by operands, and stays at a word that has more letters. */
const char *option_wrong(char **argv)
{
	const char *word = argv[optind > began ? optind - 1 : optind];

	return word[0] == '-' && word[1] ? word : argv[optind];
}

const char *option_letters(const struct option_spec *table, const char *how,
			   char out[OPTION_LETTERS])
{
	size_t used = (size_t)snprintf(out, OPTION_LETTERS, "%s", how);

	for (; table && table->name && used < OPTION_LETTERS - 2; table++) {
		if (!table->letter)
			continue;
		out[used++] = table->letter;
		if (table->value)
			out[used++] = ':';
	}
	out[used] = '\0';
	return out;
}

static const struct option_spec *find(const struct option_spec *table, const char *name)
{
	const struct option_spec *shortened = NULL;
	size_t size = strlen(name);

	for (; table && table->name; table++) {
		if (strncmp(table->name, name, size))
			continue;
		if (!table->name[size])
			return table;
		if (!shortened)
			shortened = table;
	}
	return shortened;
}

bool option_takes_next(const struct option_spec *table, const char *word)
{
	const struct option_spec *option = strncmp(word, "--", 2) ? NULL : find(table, word + 2);

	for (; !option && table && table->name; table++)
		if (table->letter && word[0] == '-' && word[1] == table->letter && !word[2])
			option = table;
	return option && option->value;
}

bool option_known(const struct option_spec *table, const char *name)
{
	const struct option_spec *option = find(table, name);

	return option && !strcmp(option->name, name);
}
