/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a spill: chunks, and indexes that say where those of a stream are, so that memory has
 * the last few only. */
#ifndef XB_BLOOMSET_SPILLFILE_H
#define XB_BLOOMSET_SPILLFILE_H

#include <stddef.h>
#include <stdint.h>

#include "bloomset/behind.h"
#include "bloomset/budget.h"

struct spillfile {
	int fd;		       /* -1: none is needed so far */
	struct behind *behind; /* by which it is written; NULL: at once */
	uint64_t memory;       /* for what waits to be written; 0: nothing does */
	uint64_t end;	       /* of the file */
	uint64_t written;      /* bytes */
	size_t longest;	       /* chunk */
	uint32_t extents;      /* of a stream, in memory */
	struct budget *budget;
};

/* A chunk. */
struct spill_extent {
	uint64_t offset, size;
};

/* Those of a stream. */
struct spill_chain {
	struct spill_extent *extents; /* the last ones; NULL: there is none at all */
	uint32_t count;		      /* of them */
	uint32_t indexes;	      /* those before are in so many indexes, in the file, */
	uint64_t index;		      /* of which this is the last */
};

/* Writes a chunk of the stream. */
int spillfile_put(struct spillfile *file, struct spill_chain *chain, const void *bytes,
		  size_t size);

/* Gives the chunks of a stream, in the order in which they came; returns 0 or what ends it. */
typedef int spillfile_taker(void *to, const uint8_t *bytes, size_t size);
int spillfile_read(const struct spillfile *file, const struct spill_chain *chain,
		   spillfile_taker *take, void *to);

/* The memory that this takes. */
uint64_t spillfile_reading(const struct spillfile *file);

/* Waits until all of it is written. */
int spillfile_settle(const struct spillfile *file);
void spillfile_close(struct spillfile *file);

void spillfile_forget(struct spillfile *file, struct spill_chain *chain);

/* Where the file would be: TMPDIR or /tmp. */
const char *spill_folder(void);

/* A file there without a name; the descriptor, or an error. */
int spill_file(void);

#endif
