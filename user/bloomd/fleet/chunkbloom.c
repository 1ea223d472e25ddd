/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key of the filter, a random one, and its blocks: all else follows from the size. So no bytes
 * are wrong; those of somebody else cost loading the chunk. */
#include "bloomd/fleet/chunkbloom.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloom/filterbits.h"
#include "bloom/sizing.h"
#include "bloomd/fleet/changecodec.h"

#define KEY_BYTES   16
#define BLOCK_BYTES (XB_BLOCK_BITS / 8)

static int mac_of_bloom(const uint8_t id[XB_FLEET_ID], size_t place, const struct mac_key *key,
			const void *bytes, size_t size, uint8_t mac[MAC_BYTES])
{
	uint64_t number = htobe64(place);
	struct mac_part parts[] = {{"bloom", sizeof("bloom")},
				   {id, XB_FLEET_ID},
				   {&number, sizeof(number)},
				   {bytes, size}};

	return mac_of(key, parts, sizeof(parts) / sizeof(*parts), mac);
}

int chunkbloom_size(uint32_t count, uint32_t *size)
{
	struct xb_geometry geometry;
	int error = xb_size_bloom(count, CHUNKBLOOM_RATE, &geometry);

	if (!error)
		*size = KEY_BYTES + geometry.blocks * BLOCK_BYTES;
	return error;
}

/* --- making --- */

static int put_all(struct xb_filter *filter, const struct manifest_chunk *chunk,
		   const uint8_t *bytes)
{
	struct bytes_in in = {bytes, chunk->size, false};
	uint8_t key[XB_ENTRY_KEY_BYTES];
	struct xb_shared_change put;
	uint32_t list;
	int error = 0;

	for (uint32_t i = 0; !error && i < chunk->count; i++) {
		error = change_read(&in, chunk->list + 1, &put, &list);
		if (!error)
			error = xb_filter_put(filter, key, xb_entry_encode(&put.entry, key));
		error = error > 0 ? 0 : error;
	}
	return error;
}

static uint8_t *bytes_of(const struct xb_filter *filter, size_t size)
{
	uint8_t *bytes = malloc(size);
	uint64_t key[2] = {htole64(filter->info.key.a), htole64(filter->info.key.b)};

	if (!bytes)
		return NULL;
	memcpy(bytes, key, KEY_BYTES);
	memcpy(bytes + KEY_BYTES, filter->bits, size - KEY_BYTES);
	return bytes;
}

static int make_filter(uint32_t size, const struct xb_filter_key *key, struct xb_filter **filter)
{
	const struct xb_filter_options options = {
		.kind = XB_FILTER_BLOCKED,
		.bits = (uint64_t)(size - KEY_BYTES) * 8,
		.hashes = XB_PROBES_FEW,
		.key = key,
	};

	return xb_filter_create(0, 0, &options, filter);
}

int chunkbloom_make(struct manifest_chunk *chunk, const uint8_t id[XB_FLEET_ID], size_t place,
		    const struct mac_key *key, const uint8_t *bytes, uint8_t **bloom)
{
	struct xb_filter *filter = NULL;
	int error = chunkbloom_size(chunk->count, &chunk->bloom_size);

	*bloom = NULL;
	if (!error)
		error = make_filter(chunk->bloom_size, NULL, &filter);
	if (!error)
		error = put_all(filter, chunk, bytes);
	if (!error) {
		*bloom = bytes_of(filter, chunk->bloom_size);
		error = *bloom ? mac_of_bloom(id, place, key, *bloom, chunk->bloom_size,
					      chunk->bloom_mac)
			       : xb_out_of_memory();
	}
	xb_filter_free(filter);
	return error;
}

/* --- reading --- */

static int check(const struct manifest *manifest, size_t place, const struct mac_key *key,
		 const void *bytes, size_t size)
{
	uint8_t mac[MAC_BYTES];
	int error;

	if (place >= manifest->chunk_count || size != manifest->chunks[place].bloom_size ||
	    size < KEY_BYTES + BLOCK_BYTES || (size - KEY_BYTES) % BLOCK_BYTES)
		return xb_input_error("the Bloom digest of chunk %zu of the snapshot has not the "
				      "size that it must have",
				      place);
	error = mac_of_bloom(manifest->id, place, key, bytes, size, mac);
	if (error || mac_equal(mac, manifest->chunks[place].bloom_mac))
		return error;
	return xb_input_error("the Bloom digest of chunk %zu of the snapshot is damaged, or of "
			      "another one",
			      place);
}

int chunkbloom_read(const struct manifest *manifest, size_t place, const struct mac_key *key,
		    const void *bytes, size_t size, struct xb_filter **filter)
{
	struct xb_filter_key own;
	uint64_t half[2];
	int error = check(manifest, place, key, bytes, size);

	*filter = NULL;
	if (error)
		return error;
	memcpy(half, bytes, KEY_BYTES);
	own = (struct xb_filter_key){le64toh(half[0]), le64toh(half[1])};
	error = make_filter((uint32_t)size, &own, filter);
	if (!error)
		memcpy((*filter)->bits, (const uint8_t *)bytes + KEY_BYTES, size - KEY_BYTES);
	return error;
}

bool chunkbloom_lacks(const struct xb_filter *filter, const struct xb_entry *entry)
{
	uint8_t key[XB_ENTRY_KEY_BYTES];

	return !xb_filter_might_contain(filter, key, xb_entry_encode(entry, key));
}
