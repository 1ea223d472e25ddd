/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which format a file with columns has, by one of its lines. */
#ifndef XB_LISTS_COLUMNFORMAT_H
#define XB_LISTS_COLUMNFORMAT_H

#include "lists/format.h"

/* Sets *format by what separates the columns of the line. An input error if two marks could; then
 * it stays as it is. */
int xb_columns_separate(const char *line, const struct xb_list_format **format);

/* Whether marks other than blanks separate columns of the line, as those of a header. */
bool xb_columns_suit(const char *line);

/* The first column of the line with an address, from 1; 0: none has one. */
uint32_t xb_columns_find(const char *line);

#endif
