/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some of a snapshot's parts: chunks, and their Bloom digests. Which are wanted, a process of its
 * own says to the loop, which fetches them. */
#ifndef XB_BLOOMD_SNAPSHOTPARTS_H
#define XB_BLOOMD_SNAPSHOTPARTS_H

#include <sys/types.h>

#include "bloomd/fleet/manifest.h"

#define PART_CHUNK 1U
#define PART_BLOOM 2U

struct snapshot_parts {
	const struct manifest *manifest;
	/* Each part stands where it would if all of its kind were there. */
	int chunks, blooms;
	/* Of each chunk; PART_ bits; shared by processes. */
	uint8_t *have, *wanted;
	/* The next one to be fetched: */
	size_t place;
	off_t chunk_at, bloom_at;
};

/* directory: where large files go; they have no name. Returns 0 or an error with its message;
 * parts_free() is for the caller in either case. */
int parts_make(struct snapshot_parts *parts, const struct manifest *manifest,
	       const char *directory);
void parts_free(struct snapshot_parts *parts);

struct snapshot_part {
	unsigned int kind; /* PART_CHUNK or PART_BLOOM */
	size_t place;
	uint32_t size;
	off_t at;
};

/* A part that is wanted and not there: true. False: there is none. */
bool parts_next(struct snapshot_parts *parts, struct snapshot_part *part);
/* Takes its bytes, which have the right size. Returns 0 or an error with its message. */
int parts_put(struct snapshot_parts *parts, const struct snapshot_part *part, const void *bytes);

/* Bytes of all parts that are wanted. */
uint64_t parts_wanted(const struct snapshot_parts *parts);

/* Whether so many bytes more leave at least as many free for others: the store may be on the same
 * file system. 0, or an error with its message. */
int parts_check_room(const struct snapshot_parts *parts, uint64_t bytes);

#endif
