/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of rows, each with what becomes of it. An indented line goes on with the one before it; "#"
 * begins a comment; `let WORD TEXT` lets <WORD> be that text in the rows below. */
#ifndef XB_TESTS_ROWS_H
#define XB_TESTS_ROWS_H

#include "support/cmocka.h"

#define ROWS_ROOM 8192 /* bytes of a row, and of what becomes of it */

/* What stands in a row for more text. */
static struct {
	char name[16], text[1024];
} rows_words[64];
static size_t rows_known;

static inline void rows_let(char *line)
{
	char *name = strsep(&line, " ");

	if (!line)
		fail_msg("no text for '%s'", name);
	assert_true(rows_known < sizeof(rows_words) / sizeof(rows_words[0]));
	assert_true(strlen(name) < sizeof(rows_words[0].name) &&
		    strlen(line) < sizeof(rows_words[0].text));
	strcpy(rows_words[rows_known].name, name);
	strcpy(rows_words[rows_known++].text, line);
}

static inline const char *rows_word(const char *text, size_t *size)
{
	for (size_t i = 0; i < rows_known; i++) {
		*size = strlen(rows_words[i].name);
		if (!strncmp(text + 1, rows_words[i].name, *size) && text[*size + 1] == '>')
			return rows_words[i].text;
	}
	return NULL;
}

/* Puts the text of words in their place, and bytes in that of escapes; returns the end. In place,
 * if no word is in it. */
static inline char *rows_bytes(const char *text, char *out, const char *end)
{
	for (; *text; text++) {
		static const char letters[] = "nrt", bytes[] = "\n\r\t";
		const char *letter, *word;
		size_t size;

		assert_true(out < end);
		if (*text == '<' && (word = rows_word(text, &size))) {
			out = rows_bytes(word, out, end);
			text += size + 1;
		} else if (*text != '\\') {
			*out++ = *text;
		} else if (*++text == 'x') {
			*out++ = (char)strtol((char[]){text[1], text[2], '\0'}, NULL, 16);
			text += 2;
		} else {
			letter = strchr(letters, *text);
			*out++ = letter ? bytes[letter - letters] : *text;
		}
	}
	*out = '\0';
	return out;
}

/* Joins what goes on with the line before it: behind "\n", or a backslash, without a blank. */
static inline void rows_join(char *line, const char *more)
{
	size_t size = strlen(line);

	more += strspn(more, "\t ");
	if (size && line[size - 1] == '\\')
		line[size - 1] = '\0';
	else if (size > 1 && strncmp(line + size - 2, "\\n", 2) != 0)
		strcat(line, " ");
	assert_true(strlen(line) + strlen(more) + 2 < ROWS_ROOM);
	strcat(line, more);
}

/* Splits "ROW => OUTCOME" or "=> OUTCOME"; returns the outcome. */
static inline char *rows_outcome(char *row)
{
	char *arrow = strncmp(row, "=> ", 3) ? strstr(row, " => ") : row;

	if (!arrow)
		fail_msg("no outcome: %s", row);
	*arrow = '\0';
	return arrow + (arrow == row ? 3 : 4);
}

/* Says what becomes of the row. */
typedef void rows_find(char *row, const char *expected, char found[ROWS_ROOM]);

static inline bool rows_is_right(const char *name, unsigned int number, char *row, rows_find *find)
{
	static char expected[ROWS_ROOM], found[ROWS_ROOM];

	rows_bytes(rows_outcome(row), expected, expected + ROWS_ROOM - 1);
	find(row, expected, found);
	if (!strcmp(found, expected))
		return true;
	printf("%s:%u:\n%s\nbut was expected:\n%s\n", name, number, found, expected);
	return false;
}

static inline void rows_check(const char *name, rows_find *find)
{
	static char row[ROWS_ROOM], line[ROWS_ROOM];
	unsigned int number = 0, first = 0, wrong = 0;
	FILE *rows = fopen(name, "re");
	bool more;

	assert_non_null(rows);
	*row = '\0';
	do {
		more = fgets(line, sizeof(line), rows);
		line[more ? strcspn(line, "\n") : 0] = '\0';
		number++;
		if (more && *line == '\t') {
			rows_join(row, line);
			continue;
		}
		if (!strncmp(row, "let ", 4))
			rows_let(row + 4);
		else if (*row && *row != '#')
			wrong += !rows_is_right(name, first, row, find);
		strcpy(row, line);
		first = number;
	} while (more);
	fclose(rows);
	assert_int_equal(wrong, 0);
}

#endif
