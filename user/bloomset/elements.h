/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files have for filters: entries of lists in their canonical form, or lines as they are. */
#ifndef XB_BLOOMSET_ELEMENTS_H
#define XB_BLOOMSET_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "xdp_bloom/bloom.h"

/* Takes the text of one; returns 0 or what ends the reading. */
typedef int element_taker(void *to, const char *text, size_t size);

#define ELEMENTS_LINE_MOST ((size_t)64 << 20)

/* path: "-" is standard input. list_format: of entries, NULL: the first line decides. A message
 * names the file, and the line if it is about one. */
int elements_read(const char *path, enum xb_filter_form form, const char *list_format,
		  element_taker *take, void *to);

/* The same of words of the command line. */
int elements_take_words(char **words, int count, enum xb_filter_form form, element_taker *take,
			void *to);

/* Whether the file can be read a second time. */
bool elements_can_be_read_again(const char *path);

/*
 * Makes sure of that: what comes by a pipe goes to a file without a name below TMPDIR. Returns the
 * path to read from, NULL after an error; *fd: to be closed when it is no longer read, -1: nothing.
 */
#define ELEMENTS_SPOOL_PATH 32
const char *elements_spool(const char *path, char room[ELEMENTS_SPOOL_PATH], int *fd);

#endif
