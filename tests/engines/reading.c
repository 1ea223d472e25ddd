/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading FILE [OPTION=VALUE...]: what the library reads of a list file, as lines of JSON:
 * {"entry": TEXT, "passes": BOOL}, and {"line": NUMBER, "note": TEXT} for each line that is left
 * out and each note. Exit code 1, with the message: the file is refused. Options: those of struct
 * xb_list_choice, format and zone.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lists/reader.h"

static int take_option(struct xb_listfile_terms *terms, char *word)
{
	const struct {
		const char *name, **text;
	} options[] = {{"format", &terms->format},
		       {"zone", &terms->zone},
		       {"column", &terms->choice.column},
		       {"where", &terms->choice.where},
		       {"json", &terms->choice.json},
		       {"set", &terms->choice.set},
		       {"country", &terms->choice.country},
		       {"not-country", &terms->choice.not_country},
		       {"continent", &terms->choice.continent},
		       {"asn", &terms->choice.asn},
		       {"mmdb-path", &terms->choice.mmdb}};
	char *value = strchr(word, '=');

	if (!value)
		return -1;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, word) != 0)
			continue;
		*options[i].text = value;
		return 0;
	}
	return -1;
}

static void print_object(json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	if (!text)
		exit(3);
	puts(text);
	free(text);
	json_decref(object);
}

int main(int count, char **words)
{
	struct xb_listfile_terms terms = {0};
	struct xb_listfile file;
	char text[XB_ENTRY_TEXT];

	for (int i = 2; i < count; i++)
		if (take_option(&terms, words[i]))
			return 2;
	if (count < 2)
		return 2;
	if (xb_listfile_read_as(-1, words[1], &terms, &file)) {
		fprintf(stderr, "%s\n", xb_error_message());
		return 1;
	}
	for (size_t i = 0; i < file.count; i++)
		print_object(json_pack("{s:s, s:b}", "entry",
				       xb_entry_format(&file.items[i].entry, text), "passes",
				       xb_entry_is_allow(&file.items[i].entry)));
	for (size_t i = 0; i < file.unknown; i++)
		print_object(json_pack("{s:I, s:s}", "line", (json_int_t)file.first_unknown[i].line,
				       "note", file.first_unknown[i].text));
	for (size_t i = 0; i < file.noted; i++)
		print_object(json_pack("{s:I, s:s}", "line", (json_int_t)file.notes[i].line, "note",
				       file.notes[i].text));
	xb_listfile_free(&file);
	return 0;
}
