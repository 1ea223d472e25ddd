/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/ahead.h"
#include "bloomset/number.h"
#include "bloomset/texthash.h"
#include "lists/unpack.h"

#define BUFFER_BYTES   (1U << 20)
#define PROGRESS_BYTES (64U << 20)
#define MARGIN	       4096 /* in which it can be seen that a line is too long */
#define PACKED_MOST    (UINT64_MAX >> 1)

struct reading {
	const struct input *input;
	const struct input_terms *terms;
	batch_taker *take;
	void *to;
	struct batch *batch;
	struct ahead *ahead;
	char *buffer;
	size_t room, held; /* bytes of the buffer; those that are of no record yet */
	uint64_t left;	   /* bytes that count */
	uint64_t line;	   /* number of the next */
	struct input_result *result;
};

static int flush(struct reading *reading)
{
	struct batch *batch = reading->batch;
	int stop = 0;

	if (batch->records_count || batch->numbers_count)
		stop = reading->take(reading->to, batch);
	batch->records_count = batch->numbers_count = 0;
	return stop;
}

static inline int take_text(struct reading *reading, const char *text, size_t size)
{
	struct batch *batch = reading->batch;
	uint64_t hash = texthash(&reading->terms->key, text, size);

	batch->records[batch->records_count++] = (struct record){text, size, hash};
	reading->result->sum += hash;
	return batch->records_count == BATCH_RECORDS ? flush(reading) : 0;
}

/* What is behind the lines that are addresses or integers, at the first that is not, or at which a
 * batch is full. */
static inline const char *take_numbers(struct reading *reading, const char *text, const char *end,
				       enum number_form form)
{
	struct batch *batch = reading->batch;
	size_t count = batch->numbers_count;
	uint64_t sum = 0;

	while (text < end && count < BATCH_NUMBERS) {
		uint32_t number = 0;
		const char *next = form == NUMBERS_ADDRESSES ? number_of_address(text, &number)
							     : number_of_integer(text, &number);

		if (!next)
			break;
		text = next;
		sum += (number + 1ULL) * 0x9e3779b97f4a7c15ULL;
		batch->numbers[count++] = number;
	}
	reading->line += count - batch->numbers_count;
	reading->result->sum += sum;
	batch->numbers_count = count;
	return text;
}

/* All of it are whole lines. */
static int take_lines(struct reading *reading, const char *text, const char *end)
{
	enum number_form form = reading->terms->numbers;
	int stop = 0;

	while (!stop && text < end) {
		const char *newline;

		if (form == NUMBERS_ADDRESSES)
			text = take_numbers(reading, text, end, NUMBERS_ADDRESSES);
		else if (form == NUMBERS_INTEGERS)
			text = take_numbers(reading, text, end, NUMBERS_INTEGERS);
		if (reading->batch->numbers_count == BATCH_NUMBERS) {
			stop = flush(reading);
			continue;
		}
		if (text == end)
			break;
		newline = memchr(text, '\n', (size_t)(end - text));
		stop = take_text(reading, text, (size_t)(newline - text));
		text = newline + 1;
		reading->line++;
	}
	return stop ?: flush(reading);
}

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

/* The first buffer is the program's own. */
static int grow(struct reading *reading)
{
	uint64_t most = reading->terms->most + MARGIN;
	size_t room = 2 * reading->room < most ? 2 * reading->room : most;
	char *buffer;
	int error;

	if (reading->held > reading->terms->most)
		return too_long(reading);
	error = budget_take(reading->terms->budget, room - reading->room);
	if (error)
		return xb_error_prefix(error, "%s:%" PRIu64, reading->input->name, reading->line);
	buffer = realloc(reading->buffer, room);
	if (!buffer) {
		budget_return(reading->terms->budget, room - reading->room);
		return xb_out_of_memory();
	}
	reading->buffer = buffer;
	reading->room = room;
	return 0;
}

static int refill(struct reading *reading, size_t *got)
{
	size_t room = reading->room - reading->held - 1; /* a line end may come behind the last */
	ssize_t size;

	size = ahead_read(reading->ahead, reading->buffer + reading->held, room);
	if (size < 0)
		return (int)size;
	if ((uint64_t)size > reading->left)
		size = (ssize_t)reading->left;
	reading->left -= (uint64_t)size;
	if ((reading->result->bytes ^ (reading->result->bytes + (uint64_t)size)) / PROGRESS_BYTES)
		xb_progress(reading->input->name, ahead_done(reading->ahead), reading->input->size);
	reading->result->bytes += (uint64_t)size;
	*got = (size_t)size;
	return 0;
}

static int read_all(struct reading *reading)
{
	size_t got = 1;
	int stop = 0;

	while (!stop && got) {
		char *end;

		if (reading->room - reading->held <= XB_UNPACK_ROOM)
			stop = grow(reading);
		if (!stop)
			stop = refill(reading, &got);
		if (stop)
			return stop;
		if (!got && !reading->held)
			break;
		if (!got)
			reading->buffer[reading->held++] = '\n';
		/* What was held before has no line end. */
		end = memrchr(reading->buffer + reading->held - (got ? 0 : 1), '\n', got ?: 1);
		reading->held += got;
		if (!end)
			continue;
		end++;
		stop = take_lines(reading, reading->buffer, end);
		reading->held = (size_t)(reading->buffer + reading->held - end);
		memmove(reading->buffer, end, reading->held);
	}
	return stop;
}

int lines_read(struct input *input, int fd, uint64_t until, const struct input_terms *terms,
	       batch_taker *take, void *to, struct input_result *result)
{
	struct xb_unpack *unpack = xb_unpack_open(fd, input->name, PACKED_MOST);
	struct reading reading = {
		.input = input,
		.terms = terms,
		.take = take,
		.to = to,
		.batch = calloc(1, sizeof(*reading.batch)),
		.buffer = malloc(BUFFER_BYTES),
		.room = BUFFER_BYTES,
		.left = until ?: UINT64_MAX,
		.line = 1,
		.result = result,
	};
	int stop;

	if (unpack) {
		xb_unpack_bound(unpack, terms->unpacking);
		xb_unpack_as_is(unpack);
		reading.ahead = ahead_open(unpack);
	}
	stop = reading.batch && reading.buffer && reading.ahead ? read_all(&reading)
								: xb_out_of_memory();
	xb_progress(input->name, 1, 1);
	ahead_close(reading.ahead);
	xb_unpack_close(unpack);
	if (reading.room > BUFFER_BYTES)
		budget_return(terms->budget, reading.room - BUFFER_BYTES);
	free(reading.buffer);
	free(reading.batch);
	return stop;
}
