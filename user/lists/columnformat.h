/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lines of a file with columns look like: which format it has, and which columns seem to
 * belong together. */
#ifndef XB_LISTS_COLUMNFORMAT_H
#define XB_LISTS_COLUMNFORMAT_H

#include "lists/addresstext.h"
#include "lists/fields.h"
#include "lists/format.h"

/* Sets *format by what separates the columns of the line. An input error if two marks could; then
 * it stays as it is. */
int xb_columns_separate(const char *line, const struct xb_list_format **format);

/* The column that seems to belong to one with an address: the next, one behind a word such as "to",
 * any with a mask, or a length in front of it. 0: none. */
size_t xb_columns_beside(const struct xb_fields *fields, size_t column,
			 struct xb_pair_guess *guess);

/* What stands beside the one column that was chosen, in the first records. All zero at first. */
struct xb_column_sample {
	size_t seen, fits; /* records */
	size_t column;	   /* that belongs to the chosen one, in `fits` of them */
	struct xb_pair_guess guess;
};

void xb_columns_sample(struct xb_column_sample *sample, const struct xb_fields *fields,
		       size_t column);

/* Notes in the file that with another column it may say more than was taken. Returns 0 or an error.
 */
int xb_columns_note(const struct xb_column_sample *sample, size_t column, struct xb_listfile *file);

#endif
