/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record is its size plus one, seven bits a byte, then its bytes. Zero is followed by a file
 * number in place of a record; each chunk begins with one. */
#include "bloomset/spill.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/spillfile.h"

#define CHUNK_MOST    (256U << 10)
#define CHUNK_LEAST   256U
#define HEAD_BYTES    16 /* at most, of a file number and a size */
#define EXTENTS_MOST  256U
#define EXTENTS_LEAST 8U

struct spill_chunk {
	struct spill_chunk *next;
	size_t used, room;
	uint8_t bytes[];
};

static uint32_t between(uint64_t number, uint32_t least, uint32_t most)
{
	return number > most ? most : number < least ? least : (uint32_t)number;
}

int spill_open(struct spill *spill, uint32_t streams, uint64_t bytes, struct budget *budget)
{
	*spill = (struct spill){.count = streams, .most = bytes, .budget = budget};
	spill->chunk = between(bytes / streams / 4, CHUNK_LEAST, CHUNK_MOST);
	spill->file =
		(struct spillfile){.fd = -1, .memory = behind_memory(bytes), .budget = budget};
	spill->file.extents = between(bytes / streams / 16 / sizeof(struct spill_extent),
				      EXTENTS_LEAST, EXTENTS_MOST);
	spill->streams = calloc(streams, sizeof(*spill->streams));
	if (!spill->streams)
		return xb_out_of_memory();
	budget_use(budget, streams * sizeof(*spill->streams));
	return 0;
}

static void free_bytes(struct spill *spill, struct spill_chunk *chunk)
{
	uint64_t bytes = sizeof(*chunk) + chunk->room;

	spill->held -= bytes;
	budget_return(spill->budget, bytes);
	free(chunk);
}

/* One of the usual size is kept for the next. */
static void free_chunk(struct spill *spill, struct spill_chunk *chunk)
{
	if (!chunk)
		return;
	if (chunk->room != spill->chunk) {
		free_bytes(spill, chunk);
		return;
	}
	chunk->next = spill->spare;
	spill->spare = chunk;
}

static void free_spare(struct spill *spill)
{
	while (spill->spare) {
		struct spill_chunk *next = spill->spare->next;

		free_bytes(spill, spill->spare);
		spill->spare = next;
	}
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
		spillfile_forget(&spill->file, &spill->streams[i].chain);
	}
	if (spill->streams)
		budget_return(spill->budget, spill->count * sizeof(*spill->streams));
	free(spill->streams);
	free_spare(spill);
	spillfile_close(&spill->file);
	*spill = (struct spill){.file.fd = -1};
}

static int write_full(struct spill *spill, struct spill_stream *stream)
{
	int error = 0;

	while (!error && stream->first) {
		struct spill_chunk *chunk = stream->first;

		error = spillfile_put(&spill->file, &stream->chain, chunk->bytes, chunk->used);
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

	for (uint32_t i = 0; spill->file.fd >= 0 && !error && i < spill->count; i++) {
		close_chunk(&spill->streams[i]);
		error = write_full(spill, &spill->streams[i]);
	}
	free_spare(spill);
	return error ? error : spillfile_settle(&spill->file);
}

/* Writes until so many bytes more are within `most` and the budget: full chunks, and those that are
 * open for one long record each; if that is not enough, all others. */
static int write_until(struct spill *spill, uint64_t most, uint64_t bytes)
{
	int error = 0;

	free_spare(spill);
	for (uint32_t i = 0; !error && i < 2 * spill->count; i++) {
		struct spill_stream *stream = &spill->streams[i % spill->count];

		if (spill->held + bytes <= most && budget_left(spill->budget) >= bytes)
			break;
		if (i >= spill->count || (stream->open && stream->open->room > spill->chunk))
			close_chunk(stream);
		error = write_full(spill, stream);
		free_spare(spill);
	}
	return error;
}

int spill_give_way(struct spill *spill, uint64_t bytes)
{
	return write_until(spill, UINT64_MAX >> 1, bytes);
}

static bool is_within(const struct spill *spill, uint64_t bytes)
{
	return spill->held + bytes <= spill->most && budget_left(spill->budget) >= bytes;
}

/* The full chunks of a stream, so that they are spare. */
static int write_some(struct spill *spill)
{
	for (uint32_t i = 0; i < spill->count; i++)
		if (spill->streams[i].first)
			return write_full(spill, &spill->streams[i]);
	return 0;
}

static int take_chunk(struct spill *spill, size_t room, struct spill_chunk **chunk)
{
	uint64_t bytes = sizeof(**chunk) + room;
	bool usual = room == spill->chunk;
	int error = 0;

	if (usual && !spill->spare && !is_within(spill, bytes))
		error = write_some(spill);
	if (error)
		return error;
	*chunk = usual ? spill->spare : NULL;
	if (*chunk) {
		spill->spare = (*chunk)->next;
		return 0;
	}
	if (!is_within(spill, bytes))
		error = write_until(spill, spill->most, bytes);
	if (!error)
		error = budget_take(spill->budget, bytes);
	if (error)
		return error;
	*chunk = bytes > room ? malloc(bytes) : NULL;
	if (!*chunk) {
		budget_return(spill->budget, bytes);
		return xb_out_of_memory();
	}
	spill->held += bytes;
	return 0;
}

static int open_chunk(struct spill *spill, struct spill_stream *stream, size_t need)
{
	size_t room = need > spill->chunk ? need : spill->chunk;
	struct spill_chunk *chunk = NULL;
	int error;

	close_chunk(stream);
	error = take_chunk(spill, room, &chunk);
	if (error)
		return error;
	*chunk = (struct spill_chunk){.room = room};
	stream->open = chunk;
	stream->begun = false;
	return 0;
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

struct giving {
	spill_taker *take;
	void *to;
};

static int give(void *giving_to, const uint8_t *at, size_t size)
{
	const struct giving *giving = giving_to;
	const uint8_t *end = at + size;
	uint64_t number, file = 0;
	int stop = 0;

	while (!stop && at < end) {
		at = get_number(at, &number);
		if (!number) {
			at = get_number(at, &file);
			continue;
		}
		stop = giving->take(giving->to, (uint32_t)file, (const char *)at, number - 1);
		at += number - 1;
	}
	return stop;
}

int spill_read(const struct spill *spill, uint32_t stream_number, spill_taker *take, void *to)
{
	const struct spill_stream *stream = &spill->streams[stream_number];
	struct giving giving = {take, to};
	int stop = stream->chain.extents
			   ? spillfile_read(&spill->file, &stream->chain, give, &giving)
			   : 0;

	for (const struct spill_chunk *chunk = stream->first; !stop && chunk; chunk = chunk->next)
		stop = give(&giving, chunk->bytes, chunk->used);
	if (!stop && stream->open)
		stop = give(&giving, stream->open->bytes, stream->open->used);
	return stop;
}

void spill_drop(struct spill *spill, uint32_t stream_number)
{
	struct spill_stream *stream = &spill->streams[stream_number];

	spillfile_forget(&spill->file, &stream->chain);
	free_memory(spill, stream);
	free_spare(spill);
}
