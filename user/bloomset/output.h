/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where results go: standard output, or a file that has its name only when it is complete. */
#ifndef XB_BLOOMSET_OUTPUT_H
#define XB_BLOOMSET_OUTPUT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/newfile.h"
#include "bloomset/behind.h"

struct output {
	const char *path; /* NULL: standard output */
	bool silent;	  /* it counts only */
	uint64_t memory;  /* for what waits to be written; see behind_open() */
	bool aside;	  /* it is this file, which does not have its name yet */
	struct xb_newfile file;
	struct behind behind;
	uint64_t lines;
};

/* All but `path`, `silent` and `memory` is set. A path of something else than a file, such as a
 * device, is written at once. */
int output_open(struct output *output);

/* These return 0, an error, or that nobody reads any more. */
#define OUTPUT_UNREAD (-EPIPE)
int output_line(struct output *output, const char *text, size_t size);
int output_address(struct output *output, uint32_t address);
int output_integer(struct output *output, uint32_t integer);

/* Writes what is left, and gives the file its name. */
int output_finish(struct output *output);

/* After an error, or after output_finish(). */
void output_close(struct output *output);

#endif
