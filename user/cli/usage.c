/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/usage.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void put_option(struct xb_line *line, const struct option_spec *option)
{
	xb_line_put(line, "--%s%s%s", option->name, option->value ? " " : "",
		    option->value ? option->value : "");
}

static void put_options(struct xb_line *line, const struct option_spec *options)
{
	bool bracket = false;

	for (const struct option_spec *option = options; option && option->name; option++) {
		if (!option->instead)
			bracket = !option->needed;
		xb_line_put(line, option->instead ? "|" : bracket ? " [" : " ");
		put_option(line, option);
		if (bracket && !option[1].instead)
			xb_line_put(line, "]");
	}
}

static void put_operands(struct xb_line *line, const struct verb_operand *operands)
{
	unsigned int open = 0;

	for (size_t i = 0; i < VERB_OPERANDS && operands[i].name; i++) {
		open += operands[i].optional;
		xb_line_put(line, operands[i].optional ? " [%s" : " %s", operands[i].name);
	}
	while (open--)
		xb_line_put(line, "]");
}

static void put_commands(struct xb_line *line, const struct verb *const *below)
{
	for (const struct verb *const *verb = below; *verb; verb++)
		xb_line_put(line, verb == below ? " %s" : "|%s", (*verb)->name);
	xb_line_put(line, " ...");
}

const char *usage_line(const struct verb *verb, char out[USAGE_BYTES])
{
	struct xb_line line = {.text = out, .room = USAGE_BYTES};

	if (verb->above)
		xb_line_put(&line, "%s ", verb->above);
	xb_line_put(&line, "%s", verb->name);
	if (verb->below)
		put_commands(&line, verb->below);
	put_operands(&line, verb->operands);
	put_options(&line, verb->options);
	return out;
}

const char *usage_in_front(const struct option_spec *options, char out[USAGE_BYTES])
{
	struct xb_line line = {.text = out, .room = USAGE_BYTES};

	xb_line_put(&line, "[-");
	for (const struct option_spec *option = options; option->name; option++)
		if (option->letter && !option->instead)
			xb_line_put(&line, "%c", option->letter);
	xb_line_put(&line, "]");
	for (const struct option_spec *option = options; option->name; option++)
		if (!option->letter)
			xb_line_put(&line, " [--%s %s]", option->name, option->value);
	return out;
}

void usage_print_options(const struct option_spec *options)
{
	char text[USAGE_BYTES];
	int width = 0;

	for (int printing = 0; printing < 2; printing++)
		for (const struct option_spec *option = options; option->name; option++) {
			struct xb_line line = {.text = text, .room = sizeof(text)};

			if (option->letter)
				xb_line_put(&line, "-%c, ", option->letter);
			put_option(&line, option);
			if (printing)
				printf("  %-*s  %s\n", width, text, option->help);
			else if ((int)line.used > width)
				width = (int)line.used;
		}
}
