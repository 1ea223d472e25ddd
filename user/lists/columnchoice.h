/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which columns of a file with columns have the addresses, and which of its lines count. */
#ifndef XB_LISTS_COLUMNCHOICE_H
#define XB_LISTS_COLUMNCHOICE_H

#include "lists/addresstext.h"
#include "lists/condition.h"
#include "lists/fields.h"

#define XB_COLUMN_NAME	64 /* bytes, terminator included */
#define XB_COLUMN_WHERE 8

/* A column by its number from 1, or by the name that the header gives it. */
struct xb_column {
	char name[XB_COLUMN_NAME]; /* "": by number */
	size_t number;		   /* 0: not found yet */
};

/* COLUMN, FIRST..LAST, ADDRESS/LENGTH or FIRST+COUNT. */
struct xb_column_choice {
	enum xb_pair pair;
	struct xb_column column[2 + XB_COLUMN_WHERE]; /* with the addresses: one, or two of a pair;
							 then those of the conditions */
	size_t columns;
	struct xb_condition where[XB_COLUMN_WHERE]; /* all of them */
	size_t conditions;
};

/*
 * column: as above. A name that has `..`, `/` or `+` in it can be told by its number alone.
 * where: COLUMN=VALUE|VALUE,... or another comparison; a name or a value may stand in double
 * quotes. NULL: every line. Returns 0 or an input error.
 */
int xb_columns_parse(const char *column, const char *where, struct xb_column_choice *choice);

/* The column of the condition with that number from 0. */
static inline const struct xb_column *xb_column_of(const struct xb_column_choice *choice, size_t i)
{
	return &choice->column[choice->columns - choice->conditions + i];
}

#endif
