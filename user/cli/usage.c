/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/usage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A line that grows; too long a line is cut. */
struct line {
	char *text;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(line->text + line->used, USAGE_BYTES - line->used, format, arguments);
	va_end(arguments);
	line->used += (size_t)size;
	if (line->used >= USAGE_BYTES)
		line->used = USAGE_BYTES - 1;
}

static void put_option(struct line *line, const struct option_spec *option)
{
	put(line, "--%s%s%s", option->name, option->value ? " " : "",
	    option->value ? option->value : "");
}

static void put_options(struct line *line, const struct option_spec *options)
{
	bool bracket = false;

	for (const struct option_spec *option = options; option && option->name; option++) {
		if (!option->instead)
			bracket = !option->needed;
		put(line, option->instead ? "|" : bracket ? " [" : " ");
		put_option(line, option);
		if (bracket && !option[1].instead)
			put(line, "]");
	}
}

static void put_operands(struct line *line, const struct verb_operand *operands)
{
	unsigned int open = 0;

	for (size_t i = 0; i < VERB_OPERANDS && operands[i].name; i++) {
		open += operands[i].optional;
		put(line, operands[i].optional ? " [%s" : " %s", operands[i].name);
	}
	while (open--)
		put(line, "]");
}

static void put_commands(struct line *line, const struct verb *const *below)
{
	for (const struct verb *const *verb = below; *verb; verb++)
		put(line, verb == below ? " %s" : "|%s", (*verb)->name);
	put(line, " ...");
}

const char *usage_line(const struct verb *verb, char out[USAGE_BYTES])
{
	struct line line = {.text = out};

	if (verb->above)
		put(&line, "%s ", verb->above);
	put(&line, "%s", verb->name);
	if (verb->below)
		put_commands(&line, verb->below);
	put_operands(&line, verb->operands);
	put_options(&line, verb->options);
	return out;
}

const char *usage_in_front(const struct option_spec *options, char out[USAGE_BYTES])
{
	struct line line = {.text = out};

	put(&line, "[-");
	for (const struct option_spec *option = options; option->name; option++)
		if (option->letter && !option->instead)
			put(&line, "%c", option->letter);
	put(&line, "]");
	for (const struct option_spec *option = options; option->name; option++)
		if (!option->letter)
			put(&line, " [--%s %s]", option->name, option->value);
	return out;
}

void usage_print_options(const struct option_spec *options)
{
	char text[USAGE_BYTES];
	int width = 0;

	for (int printing = 0; printing < 2; printing++)
		for (const struct option_spec *option = options; option->name; option++) {
			struct line line = {.text = text};

			if (option->letter)
				put(&line, "-%c, ", option->letter);
			put_option(&line, option);
			if (printing)
				printf("  %-*s  %s\n", width, text, option->help);
			else if ((int)line.used > width)
				width = (int)line.used;
		}
}
