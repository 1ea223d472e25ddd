/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded frames, and what is done to frames by chance. */
#ifndef XB_PACKETS_CORPUS_H
#define XB_PACKETS_CORPUS_H

#include "reference.h"
#include "universe.h"

struct corpus {
	struct frame *frames;
	size_t count;
};

/* All frames of the *.hex files in the directory: a frame a line, '#' begins a comment. Exits with
 * a message if one cannot be read. */
void corpus_read(const char *directory, struct corpus *corpus);
void corpus_free(struct corpus *corpus);

/* One of them, mostly with another source or another name to ask for. */
void corpus_frame(const struct corpus *corpus, const struct universe *universe, uint64_t *chance,
		  struct frame *frame);

/* A few changes. */
void mutate(const struct corpus *corpus, const struct universe *universe, uint64_t *chance,
	    struct frame *frame);

/* Test runs take no fewer bytes, and no more in one buffer. */
#define LEAST	   14
#define ONE_BUFFER 3400

/* Cuts it, and says how much of it is in its first buffer. */
void shape(uint64_t *chance, struct frame *frame);

#endif
