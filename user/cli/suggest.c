/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nearest word: that which means the same, or has the word as its beginning, or the one with
 * the fewest letters to change, add, leave out or swap with the next. */
#include "cli/suggest.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 24

static uint8_t least(size_t a, size_t b)
{
	return (uint8_t)(a < b ? a : b);
}

/* Optimal string alignment distance (Damerau 1964, with each letter edited once). */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	uint8_t rows[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_size; i++) {
		for (size_t j = 0; j <= b_size; j++) {
			if (!i || !j) {
				rows[i][j] = (uint8_t)(i + j);
				continue;
			}
			rows[i][j] = least(rows[i - 1][j] + 1U, rows[i][j - 1] + 1U);
			rows[i][j] = least(rows[i][j], rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1U);
		}
	}
	return rows[a_size][b_size];
}

struct nearest {
	const char *word; /* what was typed, perhaps with a value behind it */
	size_t size, letters;
	char found[WORD_MAX + 1]; /* "" if nothing is near */
	size_t distance;
};

/* Other programs' words, with ours. */
static const struct {
	const char *theirs, *ours;
} meanings[] = {
	{"--for", "--timeout"},
	{"--expires", "--timeout"},
	{"--expire", "--timeout"},
	{"--expiry", "--timeout"},
	{"--duration", "--timeout"},
	{"--ttl", "--timeout"},
	{"remove", "del"},
	{"delete", "del"},
	{"unban", "del"},
	{"unblock", "del"},
	{"rm", "del"},
	{"ban", "add"},
	{"block", "add"},
	{"deny", "add"},
	{"show", "list"},
	{"whitelist", "allow"},
	{"reload", "up"},
	{"restart", "up"},
	{"start", "attach"},
	{"enable", "attach"},
	{"stop", "detach"},
	{"disable", "detach"},
	{"health", "check"},
};

static bool means(const char *word, size_t size, const char *name)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (strlen(meanings[i].theirs) == size && !memcmp(meanings[i].theirs, word, size) &&
		    !strcmp(meanings[i].ours, name))
			return true;
	return false;
}

/* A third of the letters may be wrong, and one of fewer than three. */
static struct nearest nearest_to(const char *word, size_t size)
{
	size_t letters = size - strspn(word, "-");

	return (struct nearest){
		.word = word,
		.size = size,
		.letters = letters,
		.distance = letters < 3 ? 2 : letters / 3 + 1,
	};
}

static void try_word(struct nearest *nearest, const char *word)
{
	size_t size = strlen(word), far;

	if (size > WORD_MAX || nearest->size > WORD_MAX || !strcmp(nearest->word, word))
		return;
	far = distance(nearest->word, nearest->size, word, size);
	if (far && nearest->letters && !strncmp(nearest->word, word, nearest->size))
		far = 1;
	if (means(nearest->word, nearest->size, word))
		far = 0;
	if (far < least(nearest->distance, size)) {
		memcpy(nearest->found, word, size + 1);
		nearest->distance = far;
	}
}

static const char *ask(const struct nearest *nearest, char out[SUGGEST_BYTES])
{
	out[0] = '\0';
	if (nearest->found[0])
		snprintf(out, SUGGEST_BYTES, " (did you mean '%s'?)", nearest->found);
	return out;
}

const char *suggest_verb(const struct verb *const *verbs, const char *word, char out[SUGGEST_BYTES])
{
	struct nearest nearest = nearest_to(word, strlen(word));

	for (; *verbs; verbs++)
		try_word(&nearest, (*verbs)->name);
	return ask(&nearest, out);
}

const char *suggest_option(const struct option_spec *table, const char *word,
			   char out[SUGGEST_BYTES])
{
	struct nearest nearest = nearest_to(word, strcspn(word, "="));
	char name[WORD_MAX + 2];

	for (; table && table->name; table++) {
		snprintf(name, sizeof(name), "--%s", table->name);
		try_word(&nearest, name);
	}
	return ask(&nearest, out);
}
