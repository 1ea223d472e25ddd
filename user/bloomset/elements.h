/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files have for filters: entries of lists in their canonical form, or lines as they are. */
#ifndef XB_BLOOMSET_ELEMENTS_H
#define XB_BLOOMSET_ELEMENTS_H

#include "bloomset/source.h"
#include "xdp_bloom/bloom.h"

/* Takes the text of one; returns 0 or what ends the reading. */
typedef int element_taker(void *to, const char *text, size_t size);

#define ELEMENTS_LINE_MOST ((uint64_t)64 << 20)

/* Finds out what can be known of a file without reading it, for elements_read(). path: "-" is
 * standard input. */
int elements_look(struct input *input, const char *path);

/* Reads it. A message names the file, and the line if it is about one. A file that is read again
 * ends where it ended before; one that changed otherwise is an error. */
int elements_read(struct input *input, const struct input_terms *terms, element_taker *take,
		  void *to);

/* Both, for a file that is read once. */
int elements_read_once(const char *path, const struct input_terms *terms, element_taker *take,
		       void *to);

/* The same of words of the command line. */
int elements_take_words(char **words, int count, enum xb_filter_form form, element_taker *take,
			void *to);

/* Makes sure that it can be read again: what comes by a pipe goes to a file without a name below
 * TMPDIR. */
struct elements_spool {
	int fd; /* -1: none is needed */
	char path[32];
};
int elements_spool(struct input *input, struct elements_spool *spool);
void elements_spool_close(struct elements_spool *spool);

#endif
