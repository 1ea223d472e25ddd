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

struct spill_chunk;

struct spill_extent {
	uint64_t offset;
	size_t size;
};

struct spill_stream {
	struct spill_chunk *open;	  /* takes records */
	struct spill_chunk *first, *last; /* full ones in memory, behind all extents */
	struct spill_extent *extents;
	size_t count, room;
	uint32_t file; /* of the last record */
	bool begun;    /* a record has come */
};

struct spill {
	uint32_t count; /* of streams */
	struct spill_stream *streams;
	struct spill_chunk *spare;
	size_t chunk;		   /* bytes of one */
	uint64_t most, held;	   /* bytes in memory */
	uint64_t written, records; /* written: bytes, to disk */
	size_t longest;		   /* extent */
	int fd;			   /* -1: none is needed so far */
	uint64_t end;		   /* of the file */
};

/* bytes: of memory, of which each stream gets a part. */
int spill_open(struct spill *spill, uint32_t streams, uint64_t bytes);
void spill_close(struct spill *spill);

/* file: the number of the file that it is from. */
int spill_put(struct spill *spill, uint32_t stream, uint32_t file, const void *bytes, size_t size);

/* No record will come. If some are on disk already, all go there, and the memory is free. */
int spill_settle(struct spill *spill);

/* Takes a record; returns 0 or what ends the reading. */
typedef int spill_taker(void *to, uint32_t file, const char *bytes, size_t size);

/* Gives the records of a stream, which stay. */
int spill_read(const struct spill *spill, uint32_t stream, spill_taker *take, void *to);

/* Forgets the records of a stream, and frees their memory. On disk, making holes would take longer
 * than all the rest: that room is free at the end. */
void spill_drop(struct spill *spill, uint32_t stream);

/* Where the file would be: TMPDIR or /tmp. */
const char *spill_folder(void);

/* A file there without a name; the descriptor, or an error. */
int spill_file(void);

#endif
