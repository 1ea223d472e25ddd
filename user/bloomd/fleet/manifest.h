/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a snapshot of the fleet's state is, and where its chunks are: docs/design.md, "Fleet". */
#ifndef XB_BLOOMD_MANIFEST_H
#define XB_BLOOMD_MANIFEST_H

#include "base/arena.h"
#include "bloomd/fleet/mac.h"
#include "model/entry.h"
#include "store/fleet.h"

#define MANIFEST_BYTES	((size_t)4 << 20) /* at most */
#define CHUNK_BYTES	((size_t)1 << 20) /* of a chunk, about; at most twice as many */
#define MANIFEST_CHUNKS 65536
#define MANIFEST_MARKS	65536

/* Of one list, in store order; the chunks of a list follow each other. */
struct manifest_chunk {
	uint32_t list;	/* place among manifest.lists */
	uint32_t count; /* memberships */
	uint32_t size;	/* bytes */
	uint8_t mac[MAC_BYTES];
	struct xb_digest digest; /* of its memberships */
	struct xb_entry first;	 /* of its entries */
	uint32_t bloom_size;	 /* bytes of its Bloom digest: bloomd/fleet/chunkbloom.h */
	uint8_t bloom_mac[MAC_BYTES];
};

struct manifest_list {
	char name[65];
	uint64_t count;
	struct xb_digest digest;
};

/* 8 KiB: too large for a small stack. */
struct manifest {
	uint8_t id[XB_FLEET_ID]; /* random */
	uint8_t maker[XB_FLEET_ID];
	uint64_t time; /* ms since 1970: what had expired by then is not in it */
	uint64_t term, position;
	uint8_t epoch[XB_FLEET_ID];
	uint8_t chain[MAC_BYTES];
	uint64_t before; /* position of the snapshot before it in the same epoch; 0: none */
	struct xb_ancestor lineage[XB_LINEAGE_MAX];
	size_t ancestors;
	struct manifest_list lists[XB_SHARES_MAX];
	size_t list_count;
	struct manifest_chunk *chunks;
	size_t chunk_count;
	struct xb_arena names;	     /* of entries that chunks begin with */
	struct xb_fleet_mark *marks; /* in the order of the publishers' identities */
	size_t mark_count;
};
void manifest_free(struct manifest *manifest);

/* *bytes: the caller frees. The last 16 bytes are the MAC of the others. Returns 0 or an error with
 * its message: what could not be read again is not written. */
int manifest_write(const struct manifest *manifest, const struct mac_key *key, uint8_t **bytes,
		   size_t *size);

/*
 * Of untrusted bytes; the MAC is checked first, then each field: counts, sizes and digests of
 * chunks add up to those of their lists, lineage and marks are in order, and nothing could be
 * written otherwise. Returns 0, or an error with its message; the caller frees the manifest in
 * either case.
 */
int manifest_read(const void *bytes, size_t size, const struct mac_key *key,
		  struct manifest *manifest);

/* Whether it is of an earlier state of the fleet than this one. */
bool manifest_is_before(const struct manifest *manifest, uint64_t term, uint64_t position);

/* What it says of the list; NULL: it does not have it. */
const struct manifest_list *manifest_list_of(const struct manifest *manifest, const char *list);

/* The number of the last change of the publisher that the snapshot includes; 0: none. */
uint64_t manifest_mark(const struct manifest *manifest, const uint8_t publisher[XB_FLEET_ID]);

#endif
