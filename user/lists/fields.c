/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/fields.h"

#include <errno.h>

#include "lists/line.h"

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static char *skip_blanks(char *at, char separator)
{
	while (is_blank(*at) && *at != separator)
		at++;
	return at;
}

/* Moves what stands within the quotes to where the first of them was, and *end behind it. Returns
 * where the field ends; NULL with an input error. */
static char *find_quoted_end(char *field, char separator, char **end)
{
	char *at = field + 1;
	bool closed = false;

	for (*end = field; *at && !closed;) {
		closed = *at == '"' && at[1] != '"';
		at += *at == '"';
		if (!closed)
			*(*end)++ = *at++;
	}
	at = skip_blanks(at, separator);
	if (!closed)
		xb_input_error("a quote is open at the end");
	else if (*at && *at != separator)
		xb_input_error("'%s' stands behind the quote that ends a field", XB_SHOW(at));
	else
		return at;
	return NULL;
}

static char *find_bare_end(char *field, char separator, char **end)
{
	char *at =
		separator == ' ' ? field + strcspn(field, XB_BLANKS) : strchrnul(field, separator);

	for (*end = at; *end > field && is_blank((*end)[-1]); --*end)
		;
	return at;
}

int xb_fields_cut(char *record, char separator, struct xb_fields *fields)
{
	bool blanks = separator == ' ', more = true;
	char *at = record, *end;

	for (fields->count = 0; more && fields->count < XB_COLUMN_MOST; fields->count++) {
		char *field = blanks ? at + strspn(at, XB_BLANKS) : skip_blanks(at, separator);

		at = *field == '"' && !blanks ? find_quoted_end(field, separator, &end)
					      : find_bare_end(field, separator, &end);
		if (!at)
			return -EINVAL;
		at += blanks ? strspn(at, XB_BLANKS) : 0;
		more = *at;
		at += more && !blanks;
		*end = '\0';
		fields->text[fields->count] = field;
	}
	return 0;
}

size_t xb_fields_find(const struct xb_fields *fields, const char *text)
{
	for (size_t i = 0; i < fields->count; i++)
		if (!strcmp(fields->text[i], text))
			return i + 1;
	return 0;
}

bool xb_fields_are_open(const char *record, char separator)
{
	bool quoted = false, starts = true;

	if (separator == ' ' || !strchr(record, '"'))
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
