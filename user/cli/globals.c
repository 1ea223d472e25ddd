/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/globals.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "cli/everywhere.h"
#include "cli/help.h"
#include "cli/suggest.h"

/* Whether the option is one that sets something. */
static bool take(struct cli *cli, int option, const char *value, bool *right)
{
	switch (option) {
	case 'p':
		cli->pretty = true;
		/* fallthrough */
	case 'j':
		cli->json = true;
		cli_errors_as_json();
		return true;
	case 'q':
		cli->quiet = true;
		return true;
	case 'v':
		cli->verbose = true;
		return true;
	default:
		return cli->program->take && cli->program->take(cli, option, value, right);
	}
}

int globals_parse(struct cli *cli, int argc, char **argv)
{
	const struct option_spec *options = cli->program->options;
	char hint[SUGGEST_BYTES], letters[OPTION_LETTERS];
	bool right = true;
	int option;

	opterr = 0;
	option_letters(options, "+:", letters);
	while ((option = option_next(options, letters, argc, argv)) != -1) {
		if (take(cli, option, optarg, &right)) {
			if (!right)
				return EXIT_USAGE;
			continue;
		}
		if (option == 'h')
			return help_all(cli->program);
		if (option == 'V') {
			puts("xdp-bloom " XB_VERSION);
			return cli_done(EXIT_DONE);
		}
		if (option == OPTION_CLASHES)
			return cli_clash();
		if (option == '?' && option_is_valued(options, option_wrong(argv)))
			xb_input_error("option '%.*s' takes no value",
				       (int)strcspn(option_wrong(argv), "="), option_wrong(argv));
		else if (option == ':')
			xb_input_error("option '%s' needs a value", argv[optind - 1]);
		else
			xb_input_error(
				"unknown option '%s'%s; %s --help lists them", option_wrong(argv),
				suggest_option(options, option_wrong(argv), hint), xb_program());
		return cli_fail();
	}
	return -1;
}

/* The long option that the word is, its value behind "=" in *value. */
static const struct option_spec *find_long(const struct option_spec *option, const char *word,
					   const char **value)
{
	size_t size = strcspn(word, "=");

	*value = word[size] ? word + size + 1 : NULL;
	for (; option->name; option++)
		if (!strncmp(word, "--", 2) && strlen(option->name) == size - 2 &&
		    !strncmp(word + 2, option->name, size - 2))
			return option;
	return NULL;
}

/* Whether each letter of the word is an option that sets something. */
static bool are_letters(const struct option_spec *options, const char *word)
{
	for (const char *letter = word; *letter; letter++) {
		const struct option_spec *option = options;

		while (option->name && (option->letter != *letter || option->instead))
			option++;
		if (!option->name)
			return false;
	}
	return *word;
}

/* Whether the word begins with a letter that the verb has for an option of its own. */
static bool is_own_letter(const struct option_spec *option, const char *word)
{
	if (word[0] != '-' || !word[1])
		return false;
	while (option && option->name && option->letter != word[1])
		option++;
	return option && option->name;
}

/* How many words of argv, from i on, are options of every command. -1: a wrong one, which is told.
 * own: those of the verb, which come first. */
static int take_here(struct cli *cli, const struct option_spec *own, int argc, char **argv, int i)
{
	const char *word = argv[i], *value;
	const struct option_spec *option = find_long(cli->program->options, word, &value);
	bool right = true;
	int words = 1;

	if (is_own_letter(own, word))
		return 0;
	if (word[0] == '-' && are_letters(cli->program->options, word + 1)) {
		for (const char *letter = word + 1; *letter; letter++)
			take(cli, *letter, NULL, &right);
		return 1;
	}
	if (!option || (value && !option->value))
		return 0;
	if (option->value && !value) {
		if (i + 1 == argc)
			return cli_usage(cli, "option '%s' needs a value", word), -1;
		value = argv[i + 1];
		words = 2;
	}
	if (!take(cli, option->id, value, &right))
		return 0;
	if (!option_give(cli->program->options, option->name, option->value ? value : NULL))
		return cli_clash(), -1;
	return right ? words : -1;
}

int globals_take(struct cli *cli, const struct verb *verb, int *argc, char **argv)
{
	int kept = 1;

	cli->verb = verb_named(verb, *argc, argv); /* whose usage a message shows */
	for (int i = 1; i < *argc;) {
		bool ended = !strcmp(argv[i], "--");
		int words = ended ? 0 : take_here(cli, cli->verb->options, *argc, argv, i);

		if (words < 0)
			return EXIT_USAGE;
		i += words;
		if (words)
			continue;
		/* A value that looks like an option is a value. */
		words = ended ? *argc - i : 1 + option_takes_next(cli->verb->options, argv[i]);
		for (; words && i < *argc; words--)
			argv[kept++] = argv[i++];
	}
	argv[kept] = NULL;
	*argc = kept;
	return 0;
}
