/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several addresses a line: to be asked for, since two could also be a range. */
#include <errno.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

/* words: each word is an address, with blanks or commas between them. */

static int parse_words(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#;");
	struct xb_item item = {0};
	int error = 0;

	while (!error && *(line += strspn(line, XB_BLANKS ","))) {
		char *end = line + strcspn(line, XB_BLANKS ","), kept = *end;

		*end = '\0';
		error = xb_addresses_keep(reading->file, line, &item, comment);
		line = end + (kept != '\0');
	}
	return error;
}

const struct xb_list_format xb_words_format = {"words", NULL, parse_words, .comments = "#;",
					       .slashes = true};
