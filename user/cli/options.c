/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was given of the tables so far, and what is told of the last one that clashed. */
static struct given {
	const struct option_spec *option;
	const char *value; /* NULL: it takes none */
} given[4 * OPTIONS_MAX];
static size_t given_count;
static char clash[256];

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

/* The first of those of which one is given instead of another. A letter stands for itself. */
static const struct option_spec *first_of_choice(const struct option_spec *table,
						 const struct option_spec *option)
{
	while (option > table && option->instead && !option->letter)
		option--;
	return option;
}

static bool is_of(const struct option_spec *table, const struct option_spec *option)
{
	for (; table && table->name; table++)
		if (table == option)
			return true;
	return false;
}

void option_forget(const struct option_spec *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < given_count; i++)
		if (!is_of(table, given[i].option))
			given[kept++] = given[i];
	given_count = kept;
}

/* Whether the two say the same, or nothing of each other. */
static bool agree(const struct option_spec *table, const struct given *one,
		  const struct given *other)
{
	const char *name = one->option->name, *other_name = other->option->name;

	if (one->option == other->option) {
		if (!one->value || !other->value || one->option->repeats ||
		    !strcmp(one->value, other->value))
			return true;
		snprintf(clash, sizeof(clash), "--%s is given twice, with '%.60s' and '%.60s'",
			 name, one->value, other->value);
		return false;
	}
	if (first_of_choice(table, one->option) != first_of_choice(table, other->option))
		return true;
	snprintf(clash, sizeof(clash), "--%s and --%s exclude each other", name, other_name);
	return false;
}

bool option_give(const struct option_spec *table, const char *name, const char *value)
{
	struct given now = {find(table, name, strlen(name)), value};
	bool again = false;

	for (size_t i = 0; i < given_count; i++) {
		if (is_of(table, given[i].option) && !agree(table, &given[i], &now))
			return false;
		again |= given[i].option == now.option;
	}
	if (now.option && !again && given_count < sizeof(given) / sizeof(given[0]))
		given[given_count++] = now;
	return true;
}

const char *option_clash(void)
{
	return clash;
}

static const char *name_of(const struct option_spec *table, int id)
{
	while (table && table->name && table->id != id)
		table++;
	return table && table->name ? table->name : NULL;
}

int option_next(const struct option_spec *table, const char *letters, int argc, char **argv)
{
	const struct option_spec *all = table;
	const char *name;
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
	if (!optind)
		option_forget(all);
	began = optind ? optind : 1;
	optarg = NULL;
	option = getopt_long(argc, argv, letters, options, &place);
	shortened = NULL;
	/* It takes the beginning of a name for the name: --for for --force. */
	if ((place >= 0 || option == ':') && !is_whole(all, taken(argv)))
		shortened = taken(argv);
	if (shortened)
		return '?';
	name = option > 0 ? name_of(all, option) : NULL;
	return name && !option_give(all, name, optarg) ? OPTION_CLASHES : option;
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

bool option_is_valued(const struct option_spec *table, const char *word)
{
	size_t size = strcspn(word, "=");
	const struct option_spec *option =
		!strncmp(word, "--", 2) && word[size] ? find(table, word + 2, size - 2) : NULL;

	return option && !option->value;
}

bool option_known(const struct option_spec *table, const char *name)
{
	return find(table, name, strlen(name));
}
