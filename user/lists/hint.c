/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/hint.h"

#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnformat.h"
#include "lists/line.h"

#define GAPS XB_BLANKS ","

static bool are_addresses(const char *line)
{
	size_t words = 0;

	for (; *(line += strspn(line, GAPS)); words++) {
		char word[XB_ENTRY_TEXT];
		size_t size = strcspn(line, GAPS);

		if (size >= sizeof(word))
			return false;
		snprintf(word, sizeof(word), "%.*s", (int)size, line);
		if (!xb_addresses_can_keep(word))
			return false;
		line += size;
	}
	return words > 1;
}

/* A line cut up. */
struct cut {
	struct xb_fields fields;
	char line[XB_LIST_LINE_BYTES + 1];
	bool by_blanks;
};

static bool cut_up(const char *line, struct cut *cut)
{
	const struct xb_list_format *format = NULL;
	int error = xb_columns_separate(line, &format);

	snprintf(cut->line, sizeof(cut->line), "%s", line);
	if (!error)
		error = xb_fields_cut(cut->line, format->separator, &cut->fields);
	if (error)
		xb_error_clear();
	cut->by_blanks = format == &xb_table_format;
	return !error;
}

/* The first column with an address, or, behind masks alone, with a mask. */
static size_t find_address(const struct xb_fields *fields)
{
	size_t mask = 0;

	for (size_t column = 1; column <= fields->count; column++) {
		const char *text = xb_fields_at(fields, column);

		if (!xb_addresses_can_keep(text))
			continue;
		if (xb_addresses_mask_length(text) < 8)
			return column;
		mask = mask ?: column;
	}
	return mask ?: fields->count + 1;
}

static bool hint_at_columns(const char *line, const struct cut *cut, char hint[XB_LIST_HINT])
{
	const char *with = xb_advice(XB_ADVICE_COLUMN);
	const struct xb_fields *fields = &cut->fields;
	struct xb_pair_guess guess;
	size_t column = find_address(fields), second;

	second = xb_columns_beside(fields, column, &guess);
	if (column > fields->count &&
	    (cut->by_blanks || fields->count < 2 || !*fields->text[0] || !*fields->text[1]))
		return false;
	if (column > fields->count)
		snprintf(hint, XB_LIST_HINT,
			 "it seems to have columns: choose the one with the addresses, by its "
			 "number or name%s",
			 with);
	else if (guess.pair != XB_PAIR_MASK && are_addresses(line))
		snprintf(hint, XB_LIST_HINT,
			 "if each is listed, choose the format words%s; if they are the first and "
			 "the last of a range, the columns 1..2%s",
			 xb_advice(XB_ADVICE_FORMAT), with);
	else if (guess.wider)
		snprintf(hint, XB_LIST_HINT,
			 "if column %zu has the %s for column %zu, choose the columns %zu%s%zu%s%s",
			 second, guess.what, column, column, xb_pair_marks[guess.pair], second,
			 with, guess.sure ? "" : "; else one of them");
	else
		snprintf(hint, XB_LIST_HINT, "it seems to have columns: choose column %zu%s",
			 column, with);
	return true;
}

/* Names, a colon and an address: what hosts.deny has, or a document of keys and values. */
static bool is_behind_colon(const char *line)
{
	size_t size = strspn(line, XB_LABEL_CHARS "., @");
	char word[XB_ENTRY_TEXT];

	if (line[size] != ':' || strspn(line, XB_DIGITS ".,") >= size)
		return false;
	line += size + 1;
	size = strspn(line, XB_BLANKS);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(line + size, GAPS), line + size);
	return size && xb_addresses_can_keep(word);
}

/* A scheme and a host. */
static bool is_url(const char *line)
{
	const char *mark = strstr(line, "://");

	return mark && mark > line && strspn(line, XB_LABEL_CHARS "+.") == (size_t)(mark - line);
}

bool xb_list_hint(const char *line, char hint[XB_LIST_HINT])
{
	struct cut *cut;
	bool known;

	if (is_url(line)) {
		snprintf(hint, XB_LIST_HINT, "to list the hosts of URLs, choose the format urls%s",
			 xb_advice(XB_ADVICE_FORMAT));
		return true;
	}
	if (is_behind_colon(line)) {
		snprintf(hint, XB_LIST_HINT,
			 "to list the addresses behind its names, whatever these mean, choose the "
			 "format extract%s",
			 xb_advice(XB_ADVICE_FORMAT));
		return true;
	}
	cut = malloc(sizeof(*cut));
	known = cut && cut_up(line, cut) && hint_at_columns(line, cut, hint);
	free(cut);
	return known;
}
