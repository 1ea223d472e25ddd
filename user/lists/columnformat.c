/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/columnformat.h"

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnchoice.h"
#include "lists/fields.h"
#include "lists/line.h"

/* Whether the mark stands outside quotes, of which one begins behind a mark or a blank. */
static bool has_mark(const char *line, char mark)
{
	bool quoted = false, starts = true;

	for (; *line; line++) {
		if (!quoted && *line == mark)
			return true;
		if (*line == '"')
			quoted = !quoted && starts;
		starts = strchr(",;|" XB_BLANKS, *line);
	}
	return false;
}

int xb_columns_separate(const char *line, const struct xb_list_format **format)
{
	bool commas = has_mark(line, ','), semicolons = has_mark(line, ';');

	if (has_mark(line, '\t'))
		*format = &xb_tsv_format;
	else if (has_mark(line, '|'))
		*format = &xb_pipes_format;
	else if (commas && semicolons)
		return xb_input_error("commas or semicolons could separate its columns: choose "
				      "the format csv or semicolons%s",
				      xb_advice(XB_ADVICE_FORMAT));
	else
		*format = commas       ? &xb_csv_format
			  : semicolons ? &xb_semicolons_format
				       : &xb_table_format;
	return 0;
}

bool xb_columns_suit(const char *line)
{
	const struct xb_list_format *format = NULL;
	char first[XB_FIELD_BYTES], second[XB_FIELD_BYTES];
	struct xb_fields fields;
	int error;

	xb_columns_separate(line, &format);
	if (!format || format == &xb_table_format) {
		xb_error_clear();
		return false;
	}
	fields = xb_fields_begin(line, format->separator);
	error = xb_fields_next(&fields, first);
	if (!error)
		error = xb_fields_next(&fields, second);
	if (error)
		xb_error_clear();
	return !error && *first && *second;
}

uint32_t xb_columns_find(const char *line)
{
	const struct xb_list_format *format = NULL;
	struct xb_fields fields;
	char field[XB_FIELD_BYTES];
	int error = 0;

	xb_columns_separate(line, &format);
	if (!format) {
		xb_error_clear();
		return 0;
	}
	fields = xb_fields_begin(line, format->separator);
	for (uint32_t number = 1; !error && number <= XB_COLUMN_MOST; number++) {
		error = xb_fields_next(&fields, field);
		if (!error && xb_addresses_can_keep(field))
			return number;
		if (fields.ended)
			break;
	}
	if (error)
		xb_error_clear();
	return 0;
}
