/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/fields.h"

#include "lists/line.h"

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* As much as there is room for; too long a field is cut, and so is none that somebody looks for. */
static void put(char *field, size_t *used, char byte)
{
	if (*used + 1 < XB_FIELD_BYTES)
		field[*used] = byte;
	*used += *used + 1 < XB_FIELD_BYTES;
	field[*used] = '\0';
}

static int next_quoted(struct xb_fields *fields, char *field)
{
	size_t used = 0;

	for (fields->at++; *fields->at; fields->at++) {
		if (*fields->at == '"' && fields->at[1] == '"')
			fields->at++;
		else if (*fields->at == '"')
			break;
		put(field, &used, *fields->at);
	}
	if (!*fields->at)
		return xb_input_error("a quote is open at the end");
	for (fields->at++; is_blank(*fields->at) && *fields->at != fields->separator; fields->at++)
		;
	if (*fields->at && *fields->at != fields->separator)
		return xb_input_error("'%s' stands behind the quote that ends a field",
				      XB_SHOW(fields->at));
	return 0;
}

static void next_bare(struct xb_fields *fields, char *field)
{
	bool blanks = fields->separator == ' ';
	size_t used = 0;

	for (; *fields->at; fields->at++) {
		if (blanks ? is_blank(*fields->at) : *fields->at == fields->separator)
			break;
		put(field, &used, *fields->at);
	}
	while (used && is_blank(field[used - 1]))
		field[--used] = '\0';
}

int xb_fields_next(struct xb_fields *fields, char field[XB_FIELD_BYTES])
{
	int error = 0;

	field[0] = '\0';
	while (is_blank(*fields->at) && *fields->at != fields->separator)
		fields->at++;
	if (*fields->at == '"' && fields->separator != ' ')
		error = next_quoted(fields, field);
	else
		next_bare(fields, field);
	if (fields->separator == ' ')
		while (is_blank(*fields->at))
			fields->at++;
	fields->ended = !*fields->at;
	if (!fields->ended && fields->separator != ' ')
		fields->at++;
	return error;
}

struct xb_fields xb_fields_begin(const char *record, char separator)
{
	if (separator == ' ')
		record += strspn(record, XB_BLANKS);
	return (struct xb_fields){.at = record, .separator = separator};
}

bool xb_fields_are_open(const char *record, char separator)
{
	bool quoted = false, starts = true;

	if (separator == ' ')
		return false;
	for (; *record; record++) {
		if (quoted) {
			if (*record == '"' && record[1] == '"')
				record++;
			else if (*record == '"')
				quoted = false;
		} else if (*record == '"' && starts) {
			quoted = true;
			starts = false;
		} else if (*record == separator || !is_blank(*record)) {
			starts = *record == separator;
		}
	}
	return quoted;
}
