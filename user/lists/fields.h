/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a record: between commas and their kin with quotes by RFC 4180, or between blanks,
 * where a quote is as any other character. */
#ifndef XB_LISTS_FIELDS_H
#define XB_LISTS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#define XB_COLUMN_MOST 999

/* The fields of a record, without blanks around them; they lie in the record. */
struct xb_fields {
	char *text[XB_COLUMN_MOST];
	size_t count;
};

/* Cuts the record up; ' ' separates by one or several blanks. What stands behind the last for which
 * there is room is not looked at. Returns 0 or an input error. */
int xb_fields_cut(char *record, char separator, struct xb_fields *fields);

/* The field with a number from 1; NULL: there is none. */
static inline char *xb_fields_at(const struct xb_fields *fields, size_t number)
{
	return number && number <= fields->count ? fields->text[number - 1] : NULL;
}

/* The number of the first with this text; 0: there is none. */
size_t xb_fields_find(const struct xb_fields *fields, const char *text);

/* Whether a quote is open at the end: the record goes on in the next line. */
bool xb_fields_are_open(const char *record, char separator);

#endif
