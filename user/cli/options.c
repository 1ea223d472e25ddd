/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where option_next() began to look, and the word that was no whole name. */
static int began;
static const char *shortened;

static const struct option_spec *find(const struct option_spec *table, const char *name,
				      size_t size)
{
	while (table && table->name && (strncmp(table->name, name, size) || table->name[size]))
		table++;
	return table && table->name ? table : NULL;
}

/* The word that getopt_long() took last, which has its value in it or in the next. */
static const char *taken(char **argv)
{
	return argv[optind - 1 - (optarg && optarg == argv[optind - 1])];
}

static bool is_whole(const struct option_spec *table, const char *word)
{
	return word[1] != '-' || find(table, word + 2, strcspn(word + 2, "="));
}

int option_next(const struct option_spec *table, const char *letters, int argc, char **argv)
{
	const struct option_spec *all = table;
	struct option options[OPTIONS_MAX + 1] = {0};
	int option, place = -1;
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
	optarg = NULL;
	option = getopt_long(argc, argv, letters, options, &place);
	shortened = NULL;
	/* It takes the beginning of a name for the name: --for for --force. */
	if ((place >= 0 || option == ':') && !is_whole(all, taken(argv)))
		shortened = taken(argv);
	return shortened ? '?' : option;
}

/* getopt_long() passes by operands, and stays at a word that has more letters. */
const char *option_wrong(char **argv)
{
	const char *word = argv[optind > began ? optind - 1 : optind];

	if (shortened)
		return shortened;
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

bool option_takes_next(const struct option_spec *table, const char *word)
{
	const struct option_spec *option = NULL;

	if (!strncmp(word, "--", 2))
		option = find(table, word + 2, strlen(word + 2));
	for (; !option && table && table->name; table++)
		if (table->letter && word[0] == '-' && word[1] == table->letter && !word[2])
			option = table;
	return option && option->value;
}

bool option_known(const struct option_spec *table, const char *name)
{
	return find(table, name, strlen(name));
}
