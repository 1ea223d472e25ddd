/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Bloom digest of a chunk: a tenth of its size, and who has it finds what the chunk surely
 * lacks (Byers, Considine, Mitzenmacher, Rost: Informed Content Delivery Across Adaptive Overlay
 * Networks, 2002). Its elements are the keys that entries have in the store.
 */
#ifndef XB_BLOOMD_CHUNKBLOOM_H
#define XB_BLOOMD_CHUNKBLOOM_H

#include "bloomd/fleet/manifest.h"
#include "xdp_bloom/bloom.h"

#define CHUNKBLOOM_RATE 0.01 /* of entries that it does not miss though the chunk lacks them */

/* Bytes of the digest of so many entries. At most those of a chunk that has them. */
int chunkbloom_size(uint32_t count, uint32_t *size);

/*
 * The digest of the chunk with this place in the manifest, whose other fields are there; bytes: of
 * the chunk, which was made here. Fills in bloom_size and bloom_mac. *bloom: the caller frees.
 * Returns 0 or an error with its message.
 */
int chunkbloom_make(struct manifest_chunk *chunk, const uint8_t id[XB_FLEET_ID], size_t place,
		    const struct mac_key *key, const uint8_t *bytes, uint8_t **bloom);

/* Of untrusted bytes. *filter: for chunkbloom_lacks(), to be freed by xb_filter_free(). Returns 0
 * or an error with its message. */
int chunkbloom_read(const struct manifest *manifest, size_t place, const struct mac_key *key,
		    const void *bytes, size_t size, struct xb_filter **filter);

/* Whether the chunk surely lacks the entry. */
bool chunkbloom_lacks(const struct xb_filter *filter, const struct xb_entry *entry);

#endif
