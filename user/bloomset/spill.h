/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records parted into streams: in memory as long as they fit there, otherwise in one file without a
 * name below TMPDIR. A stream gives its records in the order in which they came.
 */
#ifndef XB_BLOOMSET_SPILL_H
#define XB_BLOOMSET_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bloomset/budget.h"
#include "bloomset/spillfile.h"

struct spill_chunk;

struct spill_stream {
	struct spill_chunk *open;	  /* takes records */
	struct spill_chunk *first, *last; /* full ones in memory, behind those in the file */
	struct spill_chain chain;	  /* those in the file */
	uint32_t file;			  /* of the last record */
	bool begun;			  /* a record has come */
};

struct spill {
	uint32_t count; /* of streams */
	struct spill_stream *streams;
	struct spill_chunk *spare;
	struct budget *budget; /* of which all its memory is */
	size_t chunk;	       /* bytes of one */
	uint64_t most, held;   /* bytes of chunks in memory */
	uint64_t records;
	struct spillfile file;
};

/* bytes: of memory that chunks may take; a sixteenth more tells where they are in the file. */
int spill_open(struct spill *spill, uint32_t streams, uint64_t bytes, struct budget *budget);
void spill_close(struct spill *spill);

/* file: the number of the file that it is from. */
int spill_put(struct spill *spill, uint32_t stream, uint32_t file, const void *bytes, size_t size);

/* No record will come. If some are on disk already, all go there, and the memory is free. */
int spill_settle(struct spill *spill);

/* Writes what it can to disk until so much of the budget is left. */
int spill_give_way(struct spill *spill, uint64_t bytes);

/* Takes a record; returns 0 or what ends the reading. */
typedef int spill_taker(void *to, uint32_t file, const char *bytes, size_t size);

/* Gives the records of a stream, which stay. */
int spill_read(const struct spill *spill, uint32_t stream, spill_taker *take, void *to);

/* Forgets the records of a stream, and frees their memory. On disk, making holes would take longer
 * than all the rest: that room is free at the end. */
void spill_drop(struct spill *spill, uint32_t stream);

#endif
