/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which format a file with columns has: what separates them in its first record. */
#ifndef XB_LISTS_COLUMNFORMAT_H
#define XB_LISTS_COLUMNFORMAT_H

#include "lists/format.h"

/* When columns were chosen: sets reading->format by the line, unless it is blank or a comment. An
 * input error if two marks could separate the columns, or for a choice that is none. */
int xb_columns_detect(struct xb_reading *reading, const char *line);

/* Whether marks other than blanks separate columns of the line, as those of a header. */
bool xb_columns_suit(const char *line);

/* The first column of the line with an address, from 1; 0: none has one. */
uint32_t xb_columns_find(const char *line);

#endif
