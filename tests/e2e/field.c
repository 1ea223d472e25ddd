/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * field NAME...: prints what the JSON object on standard input has under these names, one in the
 * other: a text as it is, anything else as JSON, null for what is not there. Tests that wait ask
 * often, and jq takes twenty times as long to begin.
 */
#include <jansson.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *whole = json_loadf(stdin, 0, &error);
	const json_t *found = whole;

	if (argc < 2 || !whole) {
		fprintf(stderr, "field: %s\n", whole ? "it takes names" : error.text);
		return 1;
	}
	for (int i = 1; i < argc; i++)
		found = json_object_get(found, argv[i]);
	if (json_is_string(found))
		puts(json_string_value(found));
	else if (json_dumpf(found ? found : json_null(), stdout, JSON_ENCODE_ANY | JSON_COMPACT) ||
		 putchar('\n') < 0)
		return 1;
	json_decref(whole);
	return 0;
}
