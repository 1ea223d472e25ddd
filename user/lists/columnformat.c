/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/columnformat.h"

#include "base/program.h"
#include "lists/line.h"

/* Whether the mark stands outside quotes, of which one begins behind a mark or a blank. */
static bool has_mark(const char *line, char mark)
{
	bool quoted = false, starts = true;

	for (; *line; line++) {
		if (!quoted && *line == mark)
			return true;
		if (*line == '"' && quoted && line[1] == '"')
			line++;
		else if (*line == '"')
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

/* Whether the field is the mask or length of the address, and which. near: nothing with a digit
 * stands between the two. */
static bool belongs(const char *address, const char *text, bool near, struct xb_pair_guess *guess)
{
	if (!text || (!near && !strchr(text, '.')))
		return false;
	*guess = xb_pair_guess(address, text);
	return guess->what && (near || guess->sure);
}

/* Whether a field of this number is next to the address, but for one without a digit. */
static bool is_near(const struct xb_fields *fields, size_t column, size_t at)
{
	const char *between = at == column + 2 ? xb_fields_at(fields, column + 1) : NULL;

	return at == column + 1 || at + 1 == column || (between && !strpbrk(between, XB_DIGITS));
}

size_t xb_columns_beside(const struct xb_fields *fields, size_t column, struct xb_pair_guess *guess)
{
	const char *address = xb_fields_at(fields, column);

	for (size_t at = column + 1; address && at <= fields->count; at++)
		if (belongs(address, xb_fields_at(fields, at), is_near(fields, column, at), guess))
			return at;
	/* In front of it only a mask or length. */
	for (size_t at = address ? column - 1 : 0; at > 0; at--)
		if (belongs(address, xb_fields_at(fields, at), is_near(fields, column, at),
			    guess) &&
		    guess->pair == XB_PAIR_MASK)
			return at;
	*guess = (struct xb_pair_guess){0};
	return 0;
}

#define SAMPLE 1000 /* records */

void xb_columns_sample(struct xb_column_sample *sample, const struct xb_fields *fields,
		       size_t column)
{
	struct xb_pair_guess guess;
	size_t beside;

	if (sample->seen == SAMPLE)
		return;
	sample->seen++;
	beside = xb_columns_beside(fields, column, &guess);
	if (!beside)
		return;
	if (!sample->fits) {
		sample->column = beside;
		sample->guess = guess;
	}
	if (beside != sample->column || guess.pair != sample->guess.pair)
		return;
	sample->fits++;
	if (guess.wider && !sample->guess.wider)
		sample->guess = guess;
}

/* Of all but a few: a count or a port beside an address may look like a length now and then. */
int xb_columns_note(const struct xb_column_sample *sample, size_t column, struct xb_listfile *file)
{
	if (!sample->guess.wider || sample->fits * 10 < sample->seen * 9)
		return 0;
	return xb_line_note(
		file, 0,
		"column %zu seems to have the %s for column %zu, which alone was taken; to take "
		"both, choose the columns %zu%s%zu%s",
		sample->column, sample->guess.what, column, column,
		xb_pair_marks[sample->guess.pair], sample->column, xb_advice(XB_ADVICE_COLUMN));
}
