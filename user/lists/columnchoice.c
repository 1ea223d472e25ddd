/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/columnchoice.h"

#include <stdio.h>

#include "lists/line.h"

static int parse_column(const char *text, size_t size, struct xb_column *column)
{
	char copy[XB_COLUMN_NAME];
	unsigned long number;

	*column = (struct xb_column){0};
	if (!size || size >= sizeof(copy))
		return xb_input_error("a column is a number from 1 to %d, or a name of up to %d "
				      "bytes",
				      XB_COLUMN_MOST, XB_COLUMN_NAME - 1);
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (copy[strspn(copy, XB_DIGITS)]) {
		memcpy(column->name, copy, size + 1);
		return 0;
	}
	number = strtoul(copy, NULL, 10);
	if (!number || number > XB_COLUMN_MOST)
		return xb_input_error("columns have numbers from 1 to %d, not '%s'", XB_COLUMN_MOST,
				      XB_SHOW(copy));
	column->number = (uint32_t)number;
	return 0;
}

static int parse_addresses(const char *text, struct xb_column_choice *choice)
{
	static const struct {
		const char *mark;
		enum xb_column_how how;
	} marks[] = {{"..", XB_COLUMN_TO}, {"/", XB_COLUMN_MASK}, {"+", XB_COLUMN_COUNT}};
	int error;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *mark = strstr(text, marks[i].mark), *second;

		if (!mark)
			continue;
		second = mark + strlen(marks[i].mark);
		choice->how = marks[i].how;
		error = parse_column(text, (size_t)(mark - text), &choice->first);
		return error ? error : parse_column(second, strlen(second), &choice->second);
	}
	choice->how = XB_COLUMN_ALONE;
	return parse_column(text, strlen(text), &choice->first);
}

static int parse_condition(const char *text, size_t size, struct xb_column_choice *choice)
{
	const char *mark = memchr(text, '=', size);
	size_t value = mark ? size - (size_t)(mark + 1 - text) : 0;
	int error;

	if (!mark)
		return xb_input_error("a condition is COLUMN=VALUE, not '%s'", XB_SHOW(text));
	if (choice->conditions == XB_COLUMN_WHERE || value >= XB_COLUMN_NAME)
		return xb_input_error("more than %d conditions, or a value of more than %d bytes",
				      XB_COLUMN_WHERE, XB_COLUMN_NAME - 1);
	error = parse_column(text, (size_t)(mark - text),
			     &choice->where[choice->conditions].column);
	memcpy(choice->where[choice->conditions].value, mark + 1, value);
	choice->where[choice->conditions++].value[value] = '\0';
	return error;
}

int xb_columns_parse(const char *column, const char *where, struct xb_column_choice *choice)
{
	int error;

	*choice = (struct xb_column_choice){0};
	error = parse_addresses(column, choice);
	while (!error && where) {
		size_t size = strcspn(where, ",");

		error = parse_condition(where, size, choice);
		where = where[size] ? where + size + 1 : NULL;
	}
	return error;
}
