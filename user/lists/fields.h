/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a record: between commas and their kin with quotes by RFC 4180, or between blanks,
 * where a quote is as any other character. */
#ifndef XB_LISTS_FIELDS_H
#define XB_LISTS_FIELDS_H

#include <stdbool.h>

#define XB_FIELD_BYTES 256 /* kept of a field, terminator included */

/* What is left of a record. */
struct xb_fields {
	const char *at;
	char separator; /* ' ': one or several blanks */
	bool ended;	/* the last field was taken */
};

struct xb_fields xb_fields_begin(const char *record, char separator);

/* The next field without blanks around it; what there is no room for is cut off. Returns 0 or an
 * input error. */
int xb_fields_next(struct xb_fields *fields, char field[XB_FIELD_BYTES]);

/* Whether a quote is open at the end: the record goes on in the next line. */
bool xb_fields_are_open(const char *record, char separator);

#endif
