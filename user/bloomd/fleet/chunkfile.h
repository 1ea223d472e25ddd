/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks of a snapshot in a file, one after the other as the manifest has them: a chunk is the
 * memberships of one list, as puts, in store order. Their Bloom digests are in a file beside. */
#ifndef XB_BLOOMD_CHUNKFILE_H
#define XB_BLOOMD_CHUNKFILE_H

#include <sys/types.h>

#include "bloomd/fleet/bytes.h"
#include "bloomd/fleet/manifest.h"
#include "store/outbox.h"

/* Writes chunks, and what the manifest says of them. manifest->id and the lists' names are there
 * before. */
struct chunk_writer {
	int file, blooms;
	const struct mac_key *key;
	struct manifest *manifest;
	size_t room;	/* of manifest->chunks */
	uint8_t *bytes; /* of the chunk that is being made */
	struct bytes_out out;
	struct manifest_chunk chunk;
	uint8_t first_name[XB_NAME_BYTES];
};

/* These return 0 or an error with its message; chunks_free() is for the caller in any case. */
int chunks_write(struct chunk_writer *writer, int file, int blooms, const struct mac_key *key,
		 struct manifest *manifest);
/* Adds a membership to the list with this place in the manifest: first all of list 0, then those of
 * list 1, and so on. The change is one that change_check() allows. */
int chunks_put(struct chunk_writer *writer, uint32_t list, const struct xb_shared_change *put);
/* Writes what is left. */
int chunks_finish(struct chunk_writer *writer);
void chunks_free(struct chunk_writer *writer);

/* Reads the chunks of one list, each checked by its MAC, its count, its digest and its order. */
struct chunk_reader {
	int file;
	const struct mac_key *key;
	const struct manifest *manifest;
	uint32_t list;
	size_t next;	/* chunk */
	off_t offset;	/* of that in the file */
	uint8_t *bytes; /* of the present chunk */
	struct bytes_in in;
	uint32_t left;		 /* memberships of it */
	struct xb_digest digest; /* of those that were read */
	/* After chunks_next() returned 1, until the next call: */
	struct xb_shared_change put;
	/* What it was before, for the order. */
	struct xb_entry last;
	uint8_t last_name[XB_NAME_BYTES];
	bool begun;
};

/* Begins with the first membership of the list. The manifest was read, or made here. What is not
 * read does not need to be in the file. */
int chunks_read(struct chunk_reader *reader, int file, const struct mac_key *key,
		const struct manifest *manifest, const struct manifest_list *list);
/* Goes on with the first membership of this chunk, which is of the list. */
void chunks_seek(struct chunk_reader *reader, size_t chunk);
/* 1: the next membership; 0: there is none; negative: an error with its message. */
int chunks_next(struct chunk_reader *reader);
void chunks_close(struct chunk_reader *reader);

/* Checks one chunk by its MAC: 0, or an error with its message. For one that came from the server.
 */
int chunk_check(const struct manifest *manifest, size_t chunk, const struct mac_key *key,
		const void *bytes, size_t size);

/* Such a file may also be filled one chunk at a time, and lack the lists that nobody reads. The
 * chunk is checked, then written to its place; or read from there into 2 * CHUNK_BYTES, then
 * checked. 0, or an error with its message. */
int chunk_store(const struct manifest *manifest, size_t chunk, const struct mac_key *key, int file,
		const void *bytes, size_t size);
int chunk_load(const struct manifest *manifest, size_t chunk, const struct mac_key *key, int file,
	       uint8_t *bytes);

#endif
