/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that may be the manifest of a snapshot, or one of its chunks, with MACs made right: a
 * refusal in one line, or a manifest that is written as the same bytes, and memberships in order.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bloomd/fleet/changecodec.h"
#include "bloomd/fleet/chunkbloom.h"
#include "bloomd/fleet/chunkfile.h"
#include "fuzz.h"

static const struct mac_key key;

static void check_manifest(uint8_t *bytes, size_t size)
{
	static struct manifest manifest;
	uint8_t *written;
	size_t written_size;
	int error = manifest_read(bytes, size, &key, &manifest);

	must(!error || error == -EINVAL);
	if (error)
		must_be_clear(xb_error_message());
	if (!error) {
		must(!manifest_write(&manifest, &key, &written, &written_size));
		must(written_size == size);
		must(!memcmp(written, bytes, size));
		free(written);
	}
	manifest_free(&manifest);
}

/* The MAC goes over the last bytes. */
static void try_manifest(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + 1);

	must(bytes);
	if (size)
		memcpy(bytes, data, size);
	check_manifest(bytes, size);
	if (size > MAC_BYTES) {
		struct mac_part parts[] = {{"manifest", sizeof("manifest")},
					   {bytes, size - MAC_BYTES}};

		must(!mac_of(&key, parts, 2, bytes + size - MAC_BYTES));
		check_manifest(bytes, size);
	}
	free(bytes);
}

/* The entry that the manifest must have, so that what follows it is read. */
static struct xb_entry first_of(const uint8_t *bytes, size_t size)
{
	struct bytes_in in = {bytes, size, false};
	struct xb_shared_change put;
	uint32_t list;

	(void)change_read(&in, 1, &put, &list);
	return put.entry;
}

/* A manifest that has this chunk alone, of as many memberships as the first byte says. */
static void try_chunk(const uint8_t *data, size_t size)
{
	static struct manifest manifest;
	struct manifest_chunk chunk = {.count = data[0],
				       .size = (uint32_t)size - 1,
				       .first = first_of(data + 1, size - 1)};
	uint64_t place = 0, taken = 0;
	struct mac_part parts[] = {{"chunk", sizeof("chunk")},
				   {manifest.id, sizeof(manifest.id)},
				   {&place, sizeof(place)},
				   {data + 1, size - 1}};
	int file = memfd_create("chunks", MFD_CLOEXEC), more;
	struct chunk_reader reader;

	must(file >= 0 && write(file, data + 1, size - 1) == (ssize_t)size - 1);
	must(!mac_of(&key, parts, 4, chunk.mac));
	manifest.list_count = manifest.chunk_count = 1;
	manifest.chunks = &chunk;
	must(!chunks_read(&reader, file, &key, &manifest, &manifest.lists[0]));
	while ((more = chunks_next(&reader)) > 0)
		taken++;
	must(taken <= chunk.count);
	/* It has another digest at best. */
	must(more == -EINVAL);
	must_be_clear(xb_error_message());
	chunks_close(&reader);
	close(file);
	manifest.chunks = NULL;
}

/* The same bytes as a Bloom digest. */
static void try_bloom(const uint8_t *data, size_t size)
{
	static struct manifest manifest;
	struct manifest_chunk chunk = {.count = 1, .bloom_size = (uint32_t)size};
	const struct xb_entry entry = {.kind = XB_HOST4, .length = 32};
	uint64_t place = 0;
	struct mac_part parts[] = {{"bloom", sizeof("bloom")},
				   {manifest.id, sizeof(manifest.id)},
				   {&place, sizeof(place)},
				   {data, size}};
	struct xb_filter *filter;
	int error;

	must(!mac_of(&key, parts, 4, chunk.bloom_mac));
	manifest.list_count = manifest.chunk_count = 1;
	manifest.chunks = &chunk;
	error = chunkbloom_read(&manifest, 0, &key, data, size, &filter);
	must(!error || error == -EINVAL);
	if (error)
		must_be_clear(xb_error_message());
	else
		(void)chunkbloom_lacks(filter, &entry);
	xb_filter_free(filter);
	manifest.chunks = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_manifest(data, size);
	if (size > 1 && data[0])
		try_chunk(data, size);
	try_bloom(data, size);
	return 0;
}
