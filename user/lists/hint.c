/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/hint.h"

#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnformat.h"
#include "lists/line.h"

#define GAPS XB_BLANKS ","

/* The next word, which a blank or comma ends. False: none, or too long for an address. */
static bool next_word(const char **line, char word[XB_ENTRY_TEXT])
{
	size_t size;

	*line += strspn(*line, GAPS);
	size = strcspn(*line, GAPS);
	if (!size || size >= XB_ENTRY_TEXT)
		return false;
	snprintf(word, XB_ENTRY_TEXT, "%.*s", (int)size, *line);
	*line += size;
	return true;
}

static bool are_addresses(const char *line)
{
	char word[XB_ENTRY_TEXT];

	while (line[strspn(line, GAPS)])
		if (!next_word(&line, word) || !xb_addresses_can_keep(word))
			return false;
	return true;
}

static bool hint_at_two(const char *line, char hint[XB_LIST_HINT])
{
	char first[XB_ENTRY_TEXT], second[XB_ENTRY_TEXT];
	const char *rest = line;

	if (!next_word(&rest, first) || !xb_addresses_can_keep(first) || !next_word(&rest, second))
		return false;
	/* One of fewer bits looks like an address, and no source has it. */
	if (xb_addresses_mask_length(second) >= 8)
		snprintf(hint, XB_LIST_HINT,
			 "if the second is the netmask, choose the columns 1/2%s",
			 xb_advice(XB_ADVICE_COLUMN));
	else if (are_addresses(line))
		snprintf(hint, XB_LIST_HINT,
			 "if each is listed, choose the format words%s; if they are the first and "
			 "the last of a range, the columns 1..2%s",
			 xb_advice(XB_ADVICE_FORMAT), xb_advice(XB_ADVICE_COLUMN));
	else if (xb_addresses_can_keep(second))
		snprintf(
			hint, XB_LIST_HINT,
			"if the first two are a range, choose the columns 1..2%s; else one of them",
			xb_advice(XB_ADVICE_COLUMN));
	else
		return false;
	return true;
}

static bool hint_at_column(const char *line, char hint[XB_LIST_HINT])
{
	uint32_t column = xb_columns_find(line);

	if (!column && !xb_columns_suit(line))
		return false;
	if (column)
		snprintf(hint, XB_LIST_HINT, "it seems to have columns: choose column %u%s", column,
			 xb_advice(XB_ADVICE_COLUMN));
	else
		snprintf(hint, XB_LIST_HINT,
			 "it seems to have columns: choose the one with the addresses, by its "
			 "number or name%s",
			 xb_advice(XB_ADVICE_COLUMN));
	return true;
}

/* A scheme and a host. */
static bool is_url(const char *line)
{
	const char *mark = strstr(line, "://");

	return mark && mark > line && strspn(line, XB_LABEL_CHARS "+.") == (size_t)(mark - line);
}

bool xb_list_hint(const char *line, char hint[XB_LIST_HINT])
{
	if (is_url(line)) {
		snprintf(hint, XB_LIST_HINT, "to list the hosts of URLs, choose the format urls%s",
			 xb_advice(XB_ADVICE_FORMAT));
		return true;
	}
	return hint_at_two(line, hint) || hint_at_column(line, hint);
}
