/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many short texts in one, "a; b; ; c", and pairs of them, "a -> b; c -> d": the rows of a test. */
#ifndef XB_TESTS_TEXTS_H
#define XB_TESTS_TEXTS_H

#include <string.h>

#include "support/cmocka.h"

struct texts {
	char copy[16384];
	size_t at;
	bool over;
};

static inline struct texts texts_of(const char *all)
{
	struct texts texts = {.at = 0};

	assert_true(strlen(all) < sizeof(texts.copy));
	strcpy(texts.copy, all);
	return texts;
}

/* Ends the text in front of these words; returns what is behind them, or NULL. */
static inline char *cut_text(char *text, const char *words)
{
	char *end = strstr(text, words);

	if (!end)
		return NULL;
	*end = '\0';
	return end + strlen(words);
}

/* The next text, or NULL. other: the second of a pair, or NULL. */
static inline char *next_pair(struct texts *texts, char **other)
{
	char *text = texts->copy + texts->at, *rest;

	if (texts->over)
		return NULL;
	rest = cut_text(text, "; ");
	texts->over = !rest;
	texts->at = rest ? (size_t)(rest - texts->copy) : 0;
	*other = cut_text(text, " -> ");
	return text;
}

/* The same, and else it tells of which row. */
static inline void assert_row(const char *row, const char *found, const char *expected)
{
	if (strcmp(found, expected) != 0)
		fail_msg("'%s': '%s', not '%s'", row, found, expected);
}

static inline char *next_text(struct texts *texts)
{
	char *other;

	return next_pair(texts, &other);
}

#endif
