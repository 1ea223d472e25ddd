/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/ahead.h"
#include "bloomset/cut.h"
#include "bloomset/texthash.h"

#define PROGRESS_BYTES (64U << 20)
#define PACKED_MOST    (UINT64_MAX >> 1)
#define FREE_BYTES     (1U << 20) /* of a long line: the program's own */

struct reading {
	const struct input *input;
	const struct input_terms *terms;
	batch_taker *take;
	void *to;
	char *text; /* a long line, as far as it has come */
	size_t room, held;
	uint64_t line; /* number of the next */
	struct input_result *result;
};

static int too_long(const struct reading *reading)
{
	if (!reading->terms->budget)
		return xb_input_error("%s, line %" PRIu64 ": it is longer than %" PRIu64 " MiB",
				      reading->input->name, reading->line,
				      reading->terms->most >> 20);
	return xb_input_error("%s:%" PRIu64 ": this line is longer than %" PRIu64
			      " KiB: it takes more memory (--memory SIZE)",
			      reading->input->name, reading->line, reading->terms->most >> 10);
}

static uint64_t counted(size_t room)
{
	return room > FREE_BYTES ? room - FREE_BYTES : 0;
}

static int grow(struct reading *reading, size_t need)
{
	uint64_t most = reading->terms->most, more;
	size_t room = reading->room ? 2 * reading->room : FREE_BYTES;
	char *text;
	int error;

	if (need > most)
		return too_long(reading);
	while (room < need)
		room *= 2;
	room = room < most ? room : most;
	more = counted(room) - counted(reading->room);
	error = budget_take(reading->terms->budget, more);
	if (error)
		return xb_error_prefix(error, "%s:%" PRIu64, reading->input->name, reading->line);
	text = realloc(reading->text, room);
	if (!text) {
		budget_return(reading->terms->budget, more);
		return xb_out_of_memory();
	}
	reading->text = text;
	reading->room = room;
	return 0;
}

static int append(struct reading *reading, const char *bytes, size_t size)
{
	size_t need = reading->held + size;
	int error = 0;

	if (!size)
		return 0;
	if (!reading->text || need > reading->room)
		error = grow(reading, need);
	if (error || !reading->text)
		return error ? error : xb_out_of_memory();
	memcpy(reading->text + reading->held, bytes, size);
	reading->held = need;
	return 0;
}

static int take_long(struct reading *reading)
{
	struct record record = {
		.text = reading->text,
		.size = reading->held,
		.hash = texthash(&reading->terms->key, reading->text, reading->held),
	};
	const struct batch batch = {.records = &record, .records_count = 1};

	reading->result->sum += record.hash;
	reading->line++;
	reading->held = 0;
	return reading->take(reading->to, &batch);
}

static int take_head(struct reading *reading, const struct cut_block *block)
{
	int stop = block->head ? append(reading, block->bytes, block->head) : 0;

	return !stop && block->head_ends ? take_long(reading) : stop;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int take_lines(struct reading *reading, const struct cut_block *block)
{
	size_t records = 0, numbers = 0;
	int stop = 0;

	while (!stop && (records < block->records_count || numbers < block->numbers_count)) {
		struct batch batch = {
			.records = block->records + records,
			.numbers = block->numbers + numbers,
			.records_count = least(block->records_count - records, BATCH_RECORDS),
			.numbers_count = least(block->numbers_count - numbers, BATCH_NUMBERS),
		};

		stop = reading->take(reading->to, &batch);
		records += batch.records_count;
		numbers += batch.numbers_count;
	}
	reading->line += block->lines;
	return stop;
}

static int fail(const struct cut_block *block)
{
	if (block->class == XB_ERROR_INPUT)
		return xb_input_error("%s", block->message);
	xb_system_error(0, "%s", block->message);
	return block->error;
}

static int take_block(struct reading *reading, const struct cut_block *block)
{
	uint64_t before = reading->result->bytes;
	int stop;

	if (block->error)
		return fail(block);
	reading->result->bytes += block->read;
	reading->result->sum += block->sum;
	if ((before ^ reading->result->bytes) / PROGRESS_BYTES)
		xb_progress(reading->input->name, block->done, reading->input->size);
	stop = take_head(reading, block);
	if (!stop)
		stop = take_lines(reading, block);
	if (!stop && block->tail < block->used)
		stop = append(reading, block->bytes + block->tail, block->used - block->tail);
	return stop;
}

static int read_all(struct reading *reading, struct cut *cut)
{
	struct ahead *ahead = ahead_open(sizeof(struct cut_block), cut_fill, cut);
	const struct cut_block *block;
	int stop = ahead ? 0 : xb_out_of_memory();

	while (!stop && (block = ahead_next(ahead)))
		stop = take_block(reading, block);
	ahead_close(ahead);
	return stop;
}

int lines_read(struct input *input, int fd, uint64_t until, const struct input_terms *terms,
	       batch_taker *take, void *to, struct input_result *result)
{
	struct cut cut = {
		.unpack = xb_unpack_open(fd, input->name, PACKED_MOST),
		.left = until ?: UINT64_MAX,
		.form = terms->numbers,
		.key = terms->key,
	};
	struct reading reading = {
		.input = input,
		.terms = terms,
		.take = take,
		.to = to,
		.line = 1,
		.result = result,
	};
	int stop;

	if (!cut.unpack)
		return xb_out_of_memory();
	xb_unpack_bound(cut.unpack, terms->unpacking);
	xb_unpack_as_is(cut.unpack);
	stop = read_all(&reading, &cut);
	xb_progress(input->name, 1, 1);
	xb_unpack_close(cut.unpack);
	budget_return(terms->budget, counted(reading.room));
	free(reading.text);
	return stop;
}
