/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which columns of a file with columns have the addresses, and which of its lines count. */
#ifndef XB_LISTS_COLUMNCHOICE_H
#define XB_LISTS_COLUMNCHOICE_H

#include <stddef.h>
#include <stdint.h>

#define XB_COLUMN_NAME	64 /* bytes, terminator included */
#define XB_COLUMN_MOST	999
#define XB_COLUMN_WHERE 8

/* A column by its number from 1, or by the name that the header gives it. */
struct xb_column {
	char name[XB_COLUMN_NAME]; /* "": by number */
	uint32_t number;	   /* 0: not found yet */
};

enum xb_column_how {
	XB_COLUMN_ALONE, /* COLUMN: a text as xb_addresses_keep() takes it */
	XB_COLUMN_TO,	 /* FIRST..LAST: from one address to the other */
	XB_COLUMN_MASK,	 /* ADDRESS/LENGTH: a prefix length or netmask */
	XB_COLUMN_COUNT, /* FIRST+COUNT: so many addresses */
};

struct xb_column_choice {
	enum xb_column_how how;
	struct xb_column first, second; /* second: unless XB_COLUMN_ALONE */
	struct {
		struct xb_column column;
		char value[XB_COLUMN_NAME];
	} where[XB_COLUMN_WHERE]; /* all of them */
	size_t conditions;
};

/*
 * column: as above. A name that has `..`, `/` or `+` in it can be told by its number alone.
 * where: COLUMN=VALUE,...; NULL: every line. Returns 0 or an input error.
 */
int xb_columns_parse(const char *column, const char *where, struct xb_column_choice *choice);

#endif
