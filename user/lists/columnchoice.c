/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/columnchoice.h"

#include "lists/line.h"

static int add_column(struct xb_column_choice *choice, const char *text, size_t size)
{
	struct xb_column *column = &choice->column[choice->columns++];
	uint64_t number;

	*column = (struct xb_column){0};
	if (!size || size >= sizeof(column->name))
		return xb_input_error("a column is a number from 1 to %d, or a name of up to %d "
				      "bytes",
				      XB_COLUMN_MOST, XB_COLUMN_NAME - 1);
	memcpy(column->name, text, size);
	if (column->name[strspn(column->name, XB_DIGITS)])
		return 0;
	if (!xb_number_parse(column->name, 1, XB_COLUMN_MOST, &number))
		return xb_input_error("columns have numbers from 1 to %d, not '%s'", XB_COLUMN_MOST,
				      XB_SHOW(column->name));
	*column = (struct xb_column){.number = number};
	return 0;
}

static int parse_addresses(const char *text, struct xb_column_choice *choice)
{
	const char *mark = text;
	int error;

	while (*mark && !xb_pair_find(mark))
		mark++;
	choice->pair = xb_pair_find(mark);
	error = add_column(choice, text, (size_t)(mark - text));
	if (error || !choice->pair)
		return error;
	mark += strlen(xb_pair_marks[choice->pair]);
	return add_column(choice, mark, strlen(mark));
}

/* *where: behind it; NULL: it was the last. */
static int parse_condition(const char **where, struct xb_column_choice *choice)
{
	struct xb_condition *condition = &choice->where[choice->conditions];
	char name[XB_COLUMN_NAME + 1];
	const char *end;

	if (choice->conditions == XB_COLUMN_WHERE)
		return xb_input_error("more than %d conditions", XB_COLUMN_WHERE);
	end = xb_word_read(*where, "!=<>", name, sizeof(name));
	end = end ? xb_condition_parse(end, "|,", condition) : NULL;
	if (!end)
		return xb_input_error("a condition is COLUMN=VALUE, not '%s'", XB_SHOW(*where));
	choice->conditions++;
	*where = *end ? end + 1 : NULL;
	return add_column(choice, name, strlen(name));
}

int xb_columns_parse(const char *column, const char *where, struct xb_column_choice *choice)
{
	int error;

	*choice = (struct xb_column_choice){0};
	error = parse_addresses(column, choice);
	while (!error && where)
		error = parse_condition(&where, choice);
	return error;
}
