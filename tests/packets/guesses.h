/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrong hits of the Bloom filter. Which sources they are nobody can tell beforehand, for the keys
 * are secret; but a source is one or is none, and they are few. */
#ifndef XB_PACKETS_GUESSES_H
#define XB_PACKETS_GUESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "sources.h"

/* Sources beyond these are not looked at: the more there are, the more of them lie close together
 * and are hit for the same prefix. */
#define GUESSES_SOURCES 16384

struct guess {
	struct address source;
	bool used, hit;
};

struct guesses {
	struct guess slot[2 * GUESSES_SOURCES];
	uint32_t sources, hits; /* different ones */
};

/* False: another packet of this source was not judged so. */
bool guesses_note(struct guesses *guesses, const struct address *source, bool hit);

/* Whether there are no more than the rate allows, with a margin for chance. */
bool guesses_few(const struct guesses *guesses, double rate);

#endif
