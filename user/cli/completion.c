/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void print_names(const struct verb *const *verbs)
{
	for (; *verbs; verbs++)
		printf("%s ", (*verbs)->name);
}

/* Those in small letters: names for what is to be typed are in capitals. */
static void print_words(const char *name)
{
	for (; *name; name += strspn(name, "|")) {
		size_t size = strcspn(name, "|");

		if (islower((unsigned char)*name))
			printf("%.*s ", (int)size, name);
		name += size;
	}
}

static void print_offers(const struct cli_program *program, enum offer offer, const char *name)
{
	static const char *const asked[OFFERS] = {
		[OFFER_FILES] = "<files>",
		[OFFER_DIRECTORIES] = "<directories>",
		[OFFER_INTERFACES] = "<interfaces>",
		[OFFER_ATTACHED] = "<attached>",
		[OFFER_LISTS] = "<lists>",
		[OFFER_LISTS_TO_FILL] = "<lists-to-fill>",
		[OFFER_FEEDS] = "<feeds>",
		[OFFER_LIMITS] = "<limits>",
		[OFFER_RATES] = "0.01 0.001 0.0001 0.00001",
	};

	if (offer == OFFER_WORDS)
		print_words(name);
	else if (offer == OFFER_COMMANDS)
		print_names(program->verbs);
	else if (!program->offer || !program->offer(offer))
		fputs(asked[offer] ?: "", stdout);
	putchar('\n');
}

/* word: its letter behind a dash, or its name. */
static void print_option(const struct cli_program *program, const char *command,
			 const struct option_spec *option, const char *word)
{
	printf("%s;%s%s%s;", command, word == option->name ? "--" : "", word,
	       option->value ? "=" : "");
	if (option->value)
		print_offers(program, option->offers, option->value);
	else
		putchar('\n');
}

static void print_options(const struct cli_program *program, const char *command,
			  const struct option_spec *options)
{
	for (; options && options->name; options++) {
		if (options->letter)
			print_option(program, command, options,
				     (char[]){'-', options->letter, '\0'});
		print_option(program, command, options, options->name);
	}
}

/* "ENTRY...", but not "PORT,...", which is one word. */
static bool is_many(const char *name)
{
	const char *dots = strstr(name, "...");

	return dots && dots > name && dots[-1] != ',';
}

static void print_verb(const struct cli_program *program, const struct verb *verb)
{
	char command[32];

	snprintf(command, sizeof(command), "%s%s%s", verb->above ? verb->above : "",
		 verb->above ? " " : "", verb->name);
	printf("%s;;\n", command);
	for (int i = 0; i < VERB_OPERANDS && verb->operands[i].name; i++) {
		const struct verb_operand *operand = &verb->operands[i];

		if (is_many(operand->name))
			printf("%s;*;", command);
		else
			printf("%s;%d;", command, i + 1);
		print_offers(program, operand->offers, operand->name);
	}
	print_options(program, command, verb->options);
	if (!verb->below)
		return;
	printf("%s;1;", command);
	print_names(verb->below);
	putchar('\n');
	for (const struct verb *const *below = verb->below; *below; below++)
		print_verb(program, *below);
}

int completion_print(const struct cli_program *program)
{
	printf(";1;");
	print_names(program->verbs);
	putchar('\n');
	print_options(program, "", program->options);
	for (const struct verb *const *verb = program->verbs; *verb; verb++)
		print_verb(program, *verb);
	return cli_done(EXIT_DONE);
}
