/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A MAC is over the snapshot's identity and the chunk's place, too: no chunk stands for another. */
#include "bloomd/fleet/chunkfile.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/writeall.h"
#include "bloomd/fleet/changecodec.h"
#include "bloomd/fleet/chunkbloom.h"

static int mac_of_chunk(const struct manifest *manifest, size_t place, const struct mac_key *key,
			const void *bytes, size_t size, uint8_t mac[MAC_BYTES])
{
	uint64_t number = htobe64(place);
	struct mac_part parts[] = {{"chunk", sizeof("chunk")},
				   {manifest->id, sizeof(manifest->id)},
				   {&number, sizeof(number)},
				   {bytes, size}};

	return mac_of(key, parts, sizeof(parts) / sizeof(*parts), mac);
}

int chunk_check(const struct manifest *manifest, size_t chunk, const struct mac_key *key,
		const void *bytes, size_t size)
{
	uint8_t mac[MAC_BYTES];
	int error;

	if (chunk >= manifest->chunk_count || size != manifest->chunks[chunk].size)
		return xb_input_error("chunk %zu of the snapshot has not the size that it must "
				      "have",
				      chunk);
	error = mac_of_chunk(manifest, chunk, key, bytes, size, mac);
	if (error || mac_equal(mac, manifest->chunks[chunk].mac))
		return error;
	return xb_input_error("chunk %zu of the snapshot is damaged, or of another one", chunk);
}

static void count(struct xb_digest *digest, const struct xb_shared_change *put)
{
	xb_digest_count(digest, &put->entry, put->expires, put->comment, put->comment_size, 1);
}

/* --- writing --- */

int chunks_write(struct chunk_writer *writer, int file, int blooms, const struct mac_key *key,
		 struct manifest *manifest)
{
	*writer = (struct chunk_writer){
		.file = file, .blooms = blooms, .key = key, .manifest = manifest};
	writer->bytes = malloc(CHUNK_BYTES + CHANGE_BYTES_MAX);
	writer->out.at = writer->bytes;
	return writer->bytes ? 0 : xb_out_of_memory();
}

static int write_all(int file, const uint8_t *bytes, size_t size)
{
	if (xb_write_all(file, bytes, size))
		return 0;
	return xb_system_error(errno, "cannot write the chunks of a snapshot");
}

static int write_bloom(struct chunk_writer *writer)
{
	struct manifest_chunk *chunk = &writer->chunk;
	uint8_t *bloom;
	int error = chunkbloom_make(chunk, writer->manifest->id, writer->manifest->chunk_count,
				    writer->key, writer->bytes, &bloom);

	if (!error)
		error = write_all(writer->blooms, bloom, chunk->bloom_size);
	free(bloom);
	return error;
}

/* In the manifest. */
static int enter(struct chunk_writer *writer)
{
	struct manifest *manifest = writer->manifest;
	struct manifest_list *list = &manifest->lists[writer->chunk.list];
	struct xb_entry *first = &writer->chunk.first;
	int error = xb_array_grow(&manifest->chunks, &writer->room, manifest->chunk_count + 1,
				  sizeof(*manifest->chunks));

	if (error)
		return error;
	if (xb_entry_is_name(first)) {
		first->name = xb_arena_copy(&manifest->names, first->name, first->length);
		if (!first->name)
			return -EIO;
	}
	manifest->chunks[manifest->chunk_count++] = writer->chunk;
	list->count += writer->chunk.count;
	xb_digest_add(&list->digest, &writer->chunk.digest, 1);
	return 0;
}

int chunks_finish(struct chunk_writer *writer)
{
	struct manifest *manifest = writer->manifest;
	int error;

	if (!writer->chunk.count)
		return 0;
	if (manifest->chunk_count == MANIFEST_CHUNKS)
		return xb_input_error("a snapshot has at most %d chunks", MANIFEST_CHUNKS);
	writer->chunk.size = (uint32_t)(writer->out.at - writer->bytes);
	error = mac_of_chunk(manifest, manifest->chunk_count, writer->key, writer->bytes,
			     writer->chunk.size, writer->chunk.mac);
	if (!error)
		error = write_all(writer->file, writer->bytes, writer->chunk.size);
	if (!error)
		error = write_bloom(writer);
	if (!error)
		error = enter(writer);
	if (error)
		return error;
	writer->chunk = (struct manifest_chunk){.list = writer->chunk.list};
	writer->out.at = writer->bytes;
	return 0;
}

/* A name is the caller's no longer than the call. */
static void begin_chunk(struct chunk_writer *writer, const struct xb_entry *first)
{
	writer->chunk.first = *first;
	writer->chunk.first.line = 0;
	if (!xb_entry_is_name(first))
		return;
	memcpy(writer->first_name, first->name, first->length);
	writer->chunk.first.name = writer->first_name;
}

int chunks_put(struct chunk_writer *writer, uint32_t list, const struct xb_shared_change *put)
{
	size_t size = (size_t)(writer->out.at - writer->bytes);
	int error = 0;

	if (list != writer->chunk.list || size >= CHUNK_BYTES)
		error = chunks_finish(writer);
	if (error)
		return error;
	writer->chunk.list = list;
	if (!writer->chunk.count)
		begin_chunk(writer, &put->entry);
	change_write(put, list, &writer->out);
	count(&writer->chunk.digest, put);
	writer->chunk.count++;
	return 0;
}

void chunks_free(struct chunk_writer *writer)
{
	free(writer->bytes);
	writer->bytes = NULL;
}

/* --- reading --- */

int chunks_read(struct chunk_reader *reader, int file, const struct mac_key *key,
		const struct manifest *manifest, const struct manifest_list *list)
{
	*reader = (struct chunk_reader){.file = file,
					.key = key,
					.manifest = manifest,
					.list = (uint32_t)(list - manifest->lists)};
	for (; reader->next < manifest->chunk_count &&
	       manifest->chunks[reader->next].list < reader->list;
	     reader->next++)
		reader->offset += manifest->chunks[reader->next].size;
	reader->bytes = malloc(2 * CHUNK_BYTES);
	return reader->bytes ? 0 : xb_out_of_memory();
}

void chunks_seek(struct chunk_reader *reader, size_t chunk)
{
	for (; reader->next < chunk; reader->next++)
		reader->offset += reader->manifest->chunks[reader->next].size;
	reader->left = 0;
	reader->begun = false;
}

void chunks_close(struct chunk_reader *reader)
{
	free(reader->bytes);
	reader->bytes = NULL;
}

static int damaged(const struct chunk_reader *reader, const char *why)
{
	return xb_input_error("chunk %zu of the snapshot is damaged: %s", reader->next - 1, why);
}

static int read_all(int file, uint8_t *bytes, size_t size, off_t at, size_t chunk)
{
	while (size) {
		ssize_t got = pread(file, bytes, size, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return xb_system_error(errno, "cannot read the chunks of a snapshot");
		if (!got)
			return xb_input_error("the snapshot lacks chunk %zu", chunk);
		bytes += got;
		size -= (size_t)got;
		at += got;
	}
	return 0;
}

static off_t place_of(const struct manifest *manifest, size_t chunk)
{
	off_t place = 0;

	for (size_t i = 0; i < chunk; i++)
		place += manifest->chunks[i].size;
	return place;
}

int chunk_store(const struct manifest *manifest, size_t chunk, const struct mac_key *key, int file,
		const void *bytes, size_t size)
{
	int error = chunk_check(manifest, chunk, key, bytes, size);

	if (!error && lseek(file, place_of(manifest, chunk), SEEK_SET) < 0)
		error = xb_system_error(errno, "cannot write the chunks of a snapshot");
	return error ? error : write_all(file, bytes, size);
}

int chunk_load(const struct manifest *manifest, size_t chunk, const struct mac_key *key, int file,
	       uint8_t *bytes)
{
	size_t size = manifest->chunks[chunk].size;
	int error = read_all(file, bytes, size, place_of(manifest, chunk), chunk);

	return error ? error : chunk_check(manifest, chunk, key, bytes, size);
}

/* 1: there is a chunk more; 0: the list has no more. */
static int open_next(struct chunk_reader *reader)
{
	const struct manifest *manifest = reader->manifest;
	const struct manifest_chunk *chunk = &manifest->chunks[reader->next];
	int error;

	if (reader->next >= manifest->chunk_count || chunk->list != reader->list)
		return 0;
	error = read_all(reader->file, reader->bytes, chunk->size, reader->offset, reader->next);
	if (!error)
		error = chunk_check(manifest, reader->next, reader->key, reader->bytes,
				    chunk->size);
	if (error)
		return error;
	reader->next++;
	reader->offset += chunk->size;
	reader->in = (struct bytes_in){reader->bytes, chunk->size, false};
	reader->left = chunk->count;
	reader->digest = (struct xb_digest){{0, 0}};
	return 1;
}

/* Names in the chunk before are gone with it. */
static void remember(struct chunk_reader *reader)
{
	const struct xb_entry *entry = &reader->put.entry;

	reader->begun = true;
	reader->last = *entry;
	if (!xb_entry_is_name(entry))
		return;
	memcpy(reader->last_name, entry->name, entry->length);
	reader->last.name = reader->last_name;
}

static bool is_first(const struct chunk_reader *reader)
{
	return reader->left == reader->manifest->chunks[reader->next - 1].count;
}

/* Whether the next chunk begins behind the last entry, also if it is not read. */
static bool leads_on(const struct chunk_reader *reader)
{
	const struct manifest_chunk *next = &reader->manifest->chunks[reader->next];

	return reader->next == reader->manifest->chunk_count || next->list != reader->list ||
	       xb_entry_compare(&next->first, &reader->put.entry) > 0;
}

static int check_end(const struct chunk_reader *reader)
{
	const struct manifest_chunk *chunk = &reader->manifest->chunks[reader->next - 1];

	if (reader->in.left)
		return damaged(reader, "it has more bytes than memberships");
	if (!leads_on(reader))
		return damaged(reader, "it is not in order");
	if (!xb_digest_equals(&reader->digest, &chunk->digest))
		return damaged(reader, "it has another digest");
	return 0;
}

static int read_put(struct chunk_reader *reader)
{
	uint32_t list;
	int error = change_read(&reader->in, (uint32_t)reader->manifest->list_count, &reader->put,
				&list);

	if (error)
		return xb_error_prefix(error, "chunk %zu of the snapshot", reader->next - 1);
	if (list != reader->list || !reader->put.put)
		return damaged(reader, "it has something else than memberships of its list");
	if (reader->begun && xb_entry_compare(&reader->last, &reader->put.entry) >= 0)
		return damaged(reader, "it is not in order");
	if (is_first(reader) &&
	    xb_entry_compare(&reader->manifest->chunks[reader->next - 1].first, &reader->put.entry))
		return damaged(reader, "it begins with another entry");
	remember(reader);
	count(&reader->digest, &reader->put);
	return --reader->left ? 0 : check_end(reader);
}

int chunks_next(struct chunk_reader *reader)
{
	int more = reader->left ? 1 : open_next(reader);
	int error = more > 0 ? read_put(reader) : more;

	return error ? error : more;
}
