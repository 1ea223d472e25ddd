/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrong hits, by source. */
#include "guesses.h"

#include <math.h>
#include <string.h>

static struct guess *find(struct guesses *guesses, const struct address *source)
{
	uint32_t at = source->ipv6 ? 17 : 5;

	for (int i = 0; i < 16; i++)
		at = (at ^ source->byte[i]) * 0x01000193;
	for (;; at++) {
		struct guess *guess = &guesses->slot[(at ^ at >> 16) % (2 * GUESSES_SOURCES)];

		if (!guess->used || (guess->source.ipv6 == source->ipv6 &&
				     !memcmp(guess->source.byte, source->byte, 16)))
			return guess;
	}
}

bool guesses_note(struct guesses *guesses, const struct address *source, bool hit)
{
	struct guess *guess = find(guesses, source);

	if (guess->used)
		return guess->hit == hit;
	if (guesses->sources == GUESSES_SOURCES)
		return true;
	*guess = (struct guess){.source = *source, .used = true, .hit = hit};
	guesses->sources++;
	guesses->hits += hit;
	return true;
}

/* Five standard deviations, of sources that are hit four at a time. */
bool guesses_few(const struct guesses *guesses, double rate)
{
	double expected = 1.1 * rate * guesses->sources;

	return guesses->hits <= expected + 5 * sqrt(4 * expected) + 5;
}
