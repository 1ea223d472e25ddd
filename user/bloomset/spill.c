/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record is its size plus one, seven bits a byte, then its bytes. Zero is followed by a file
 * number in place of a record; each chunk begins with one. */
#include "bloomset/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

#define CHUNK_MOST  (256U << 10)
#define CHUNK_LEAST (4U << 10)
#define HEAD_BYTES  16 /* at most, of a file number and a size */

struct spill_chunk {
	struct spill_chunk *next;
	size_t used, room;
	uint8_t bytes[];
};

const char *spill_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

int spill_open(struct spill *spill, uint32_t streams, uint64_t bytes)
{
	uint64_t chunk = bytes / streams / 4;

	*spill = (struct spill){.count = streams, .most = bytes, .fd = -1};
	spill->chunk = chunk > CHUNK_MOST ? CHUNK_MOST : chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk;
	spill->streams = calloc(streams, sizeof(*spill->streams));
	return spill->streams ? 0 : xb_out_of_memory();
}

/* One of the usual size is kept for the next. */
static void free_chunk(struct spill *spill, struct spill_chunk *chunk)
{
	if (!chunk)
		return;
	spill->held -= sizeof(*chunk) + chunk->room;
	if (chunk->room != spill->chunk) {
		free(chunk);
		return;
	}
	chunk->next = spill->spare;
	spill->spare = chunk;
}

static void free_spare(struct spill *spill)
{
	while (spill->spare) {
		struct spill_chunk *next = spill->spare->next;

		free(spill->spare);
		spill->spare = next;
	}
}

static struct spill_chunk *take_chunk(struct spill *spill, size_t room)
{
	struct spill_chunk *chunk = room == spill->chunk ? spill->spare : NULL;

	if (chunk)
		spill->spare = chunk->next;
	else
		chunk = malloc(sizeof(*chunk) + room);
	if (chunk) {
		*chunk = (struct spill_chunk){.room = room};
		spill->held += sizeof(*chunk) + room;
	}
	return chunk;
}

static void free_memory(struct spill *spill, struct spill_stream *stream)
{
	while (stream->first) {
		struct spill_chunk *next = stream->first->next;

		free_chunk(spill, stream->first);
		stream->first = next;
	}
	stream->last = NULL;
	free_chunk(spill, stream->open);
	stream->open = NULL;
}

void spill_close(struct spill *spill)
{
	for (uint32_t i = 0; spill->streams && i < spill->count; i++) {
		free_memory(spill, &spill->streams[i]);
		free(spill->streams[i].extents);
	}
	free(spill->streams);
	free_spare(spill);
	if (spill->fd >= 0)
		close(spill->fd);
	*spill = (struct spill){.fd = -1};
}

int spill_file(void)
{
	const char *folder = spill_folder();
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	if (asprintf(&name, "%s/bloomset-XXXXXX", folder) < 0)
		return xb_out_of_memory();
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd >= 0 ? fd : xb_system_error(errno, "cannot make a file in %s (TMPDIR)", folder);
}

static int open_file(struct spill *spill)
{
	spill->fd = spill_file();
	return spill->fd < 0 ? spill->fd : 0;
}

static int write_chunk(struct spill *spill, struct spill_stream *stream,
		       const struct spill_chunk *chunk)
{
	size_t done = 0;
	int error = xb_array_grow(&stream->extents, &stream->room, stream->count + 1,
				  sizeof(*stream->extents));

	if (!error && spill->fd < 0)
		error = open_file(spill);
	if (error)
		return error;
	while (done < chunk->used) {
		ssize_t wrote = pwrite(spill->fd, chunk->bytes + done, chunk->used - done,
				       (off_t)(spill->end + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return xb_system_error(errno, "cannot write to %s (TMPDIR)",
					       spill_folder());
		done += (size_t)wrote;
	}
	stream->extents[stream->count++] = (struct spill_extent){spill->end, chunk->used};
	spill->longest = chunk->used > spill->longest ? chunk->used : spill->longest;
	spill->end += chunk->used;
	spill->written += chunk->used;
	return 0;
}

static int write_full(struct spill *spill, struct spill_stream *stream)
{
	int error = 0;

	while (!error && stream->first) {
		struct spill_chunk *chunk = stream->first;

		error = write_chunk(spill, stream, chunk);
		if (error)
			break;
		stream->first = chunk->next;
		free_chunk(spill, chunk);
	}
	if (!stream->first)
		stream->last = NULL;
	return error;
}

static void close_chunk(struct spill_stream *stream)
{
	if (!stream->open)
		return;
	if (stream->last)
		stream->last->next = stream->open;
	else
		stream->first = stream->open;
	stream->last = stream->open;
	stream->open = NULL;
}

int spill_settle(struct spill *spill)
{
	int error = 0;

	if (spill->fd < 0)
		return 0;
	for (uint32_t i = 0; !error && i < spill->count; i++) {
		close_chunk(&spill->streams[i]);
		error = write_full(spill, &spill->streams[i]);
	}
	free_spare(spill);
	return error;
}

/* Full chunks go to disk, and those that are open for one long record each: of these, a few are
 * more than all others together may be. */
static int make_room(struct spill *spill, size_t bytes)
{
	int error = 0;

	for (uint32_t i = 0; !error && spill->held + bytes > spill->most && i < spill->count; i++) {
		struct spill_stream *stream = &spill->streams[i];

		if (stream->open && stream->open->room > spill->chunk)
			close_chunk(stream);
		error = write_full(spill, stream);
	}
	return error;
}

static int open_chunk(struct spill *spill, struct spill_stream *stream, size_t need)
{
	size_t room = need > spill->chunk ? need : spill->chunk;
	int error;

	close_chunk(stream);
	error = make_room(spill, sizeof(*stream->open) + room);
	if (error)
		return error;
	stream->open = take_chunk(spill, room);
	stream->begun = false;
	return stream->open ? 0 : xb_out_of_memory();
}

static void put_number(struct spill_chunk *chunk, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		chunk->bytes[chunk->used++] = (uint8_t)(number | 0x80);
	chunk->bytes[chunk->used++] = (uint8_t)number;
}

int spill_put(struct spill *spill, uint32_t stream_number, uint32_t file, const void *bytes,
	      size_t size)
{
	struct spill_stream *stream = &spill->streams[stream_number];
	struct spill_chunk *chunk = stream->open;
	int error;

	if (!chunk || chunk->room - chunk->used < HEAD_BYTES + size) {
		error = open_chunk(spill, stream, HEAD_BYTES + size);
		if (error)
			return error;
		chunk = stream->open;
	}
	if (!stream->begun || stream->file != file) {
		put_number(chunk, 0);
		put_number(chunk, file);
		stream->begun = true;
		stream->file = file;
	}
	put_number(chunk, (uint64_t)size + 1);
	memcpy(chunk->bytes + chunk->used, bytes, size);
	chunk->used += size;
	spill->records++;
	return 0;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *number)
{
	unsigned int shift = 0;

	for (*number = 0; *at & 0x80; shift += 7)
		*number |= (uint64_t)(*at++ & 0x7f) << shift;
	*number |= (uint64_t)*at << shift;
	return at + 1;
}

static int give(const uint8_t *at, size_t size, spill_taker *take, void *to)
{
	const uint8_t *end = at + size;
	uint64_t number, file = 0;
	int stop = 0;

	while (!stop && at < end) {
		at = get_number(at, &number);
		if (!number) {
			at = get_number(at, &file);
			continue;
		}
		stop = take(to, (uint32_t)file, (const char *)at, number - 1);
		at += number - 1;
	}
	return stop;
}

static int read_extent(const struct spill *spill, const struct spill_extent *extent, uint8_t *out)
{
	size_t done = 0;

	while (done < extent->size) {
		ssize_t got = pread(spill->fd, out + done, extent->size - done,
				    (off_t)(extent->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return xb_system_error(got ? errno : 0,
					       "cannot read what was written to %s",
					       spill_folder());
		done += (size_t)got;
	}
	return 0;
}

static int read_file(const struct spill *spill, const struct spill_stream *stream,
		     spill_taker *take, void *to)
{
	uint8_t *buffer = malloc(spill->longest);
	int stop = 0;

	if (!buffer)
		return xb_out_of_memory();
	for (size_t i = 0; !stop && i < stream->count; i++) {
		const struct spill_extent *extent = &stream->extents[i];

		stop = read_extent(spill, extent, buffer);
		if (!stop)
			stop = give(buffer, extent->size, take, to);
	}
	free(buffer);
	return stop;
}

int spill_read(const struct spill *spill, uint32_t stream_number, spill_taker *take, void *to)
{
	const struct spill_stream *stream = &spill->streams[stream_number];
	int stop = stream->count ? read_file(spill, stream, take, to) : 0;

	for (const struct spill_chunk *chunk = stream->first; !stop && chunk; chunk = chunk->next)
		stop = give(chunk->bytes, chunk->used, take, to);
	if (!stop && stream->open)
		stop = give(stream->open->bytes, stream->open->used, take, to);
	return stop;
}

void spill_drop(struct spill *spill, uint32_t stream_number)
{
	struct spill_stream *stream = &spill->streams[stream_number];

	stream->count = 0;
	free_memory(spill, stream);
}
