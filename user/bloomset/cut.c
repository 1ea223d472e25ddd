/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/cut.h"

#include <string.h>

#include "bloomset/number.h"
#include "bloomset/texthash.h"

#define LONG (CUT_BYTES / 2)

static void begin(const struct cut *cut, struct cut_block *block)
{
	size_t left = cut->former ? cut->former->used - cut->from : 0;

	if (left)
		memcpy(block->bytes, cut->former->bytes + cut->from, left);
	block->used = left;
	block->read = block->sum = 0;
	block->head = block->lines = block->records_count = block->numbers_count = 0;
	block->head_ends = false;
}

static int fail(struct cut_block *block, ssize_t error)
{
	block->error = (int)error;
	block->class = xb_error_class();
	strncpy(block->message, xb_error_message(), sizeof(block->message) - 1);
	return block->error;
}

/* The last line has an end in any case: there is always room for it. */
static void end(struct cut *cut, struct cut_block *block)
{
	cut->ended = true;
	if (cut->inside || (block->used && block->bytes[block->used - 1] != '\n'))
		block->bytes[block->used++] = '\n';
}

static int read_some(struct cut *cut, struct cut_block *block)
{
	ssize_t size = 0;

	if (cut->left)
		size = xb_unpack_read(cut->unpack, block->bytes + block->used,
				      CUT_BYTES - block->used - 1);
	if (size < 0)
		return fail(block, size);
	if ((uint64_t)size > cut->left)
		size = (ssize_t)cut->left;
	cut->left -= (uint64_t)size;
	block->read += (uint64_t)size;
	block->used += (size_t)size;
	if (!size)
		end(cut, block);
	return 0;
}

/* A line of its own, or anything of a long one. */
static bool has_some(const struct cut *cut, const struct cut_block *block, size_t from)
{
	return block->used > LONG || (cut->inside && block->used) ||
	       memchr(block->bytes + from, '\n', block->used - from);
}

static int read_enough(struct cut *cut, struct cut_block *block)
{
	size_t from = 0;
	int error = 0;

	while (!error && !cut->ended && !has_some(cut, block, from)) {
		from = block->used;
		error = read_some(cut, block);
	}
	block->done = xb_unpack_done(cut->unpack);
	return error;
}

/* What goes on with a long line. Returns where other lines begin. */
static size_t cut_head(struct cut *cut, struct cut_block *block)
{
	const char *newline;

	if (!cut->inside)
		return 0;
	newline = memchr(block->bytes, '\n', block->used);
	block->head = newline ? (size_t)(newline - block->bytes) : block->used;
	block->head_ends = newline;
	cut->inside = !newline;
	return newline ? block->head + 1 : block->used;
}

static inline const char *number_of(const char *text, enum number_form form, uint32_t *number)
{
	return form == NUMBERS_ADDRESSES ? number_of_address(text, number)
					 : number_of_integer(text, number);
}

/* What is behind the lines that are numbers, at the first that is not. */
static inline const char *cut_numbers(struct cut_block *block, const char *text, const char *end,
				      enum number_form form)
{
	size_t count = block->numbers_count;
	uint64_t sum = 0;

	while (text < end && count < CUT_NUMBERS) {
		uint32_t number = 0;
		const char *next = number_of(text, form, &number);

		if (!next)
			break;
		text = next;
		sum += batch_sum(number);
		block->numbers[count++] = number;
	}
	block->sum += sum;
	block->numbers_count = count;
	return text;
}

static inline const char *cut_text(const struct cut *cut, struct cut_block *block, const char *text,
				   const char *end)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));
	size_t size = (size_t)(newline - text);
	uint64_t hash = texthash(&cut->key, text, size);

	block->records[block->records_count++] = (struct record){text, size, hash};
	block->sum += hash;
	return newline + 1;
}

/* All of it are whole lines. Returns where those begin for which there was no room. */
static const char *cut_lines(const struct cut *cut, struct cut_block *block, const char *text,
			     const char *end)
{
	while (text < end) {
		if (cut->form == NUMBERS_ADDRESSES)
			text = cut_numbers(block, text, end, NUMBERS_ADDRESSES);
		else if (cut->form == NUMBERS_INTEGERS)
			text = cut_numbers(block, text, end, NUMBERS_INTEGERS);
		if (text == end || block->numbers_count == CUT_NUMBERS ||
		    block->records_count == CUT_RECORDS)
			break;
		text = cut_text(cut, block, text, end);
	}
	block->lines = block->records_count + block->numbers_count;
	return text;
}

/* Behind the last line that has an end; `from`: there is none. */
static size_t end_of_lines(const struct cut_block *block, size_t from)
{
	size_t end = block->used;

	while (end > from && block->bytes[end - 1] != '\n')
		end--;
	return end;
}

bool cut_fill(void *cut_from, void *block_to)
{
	struct cut *cut = cut_from;
	struct cut_block *block = block_to;
	size_t at, end;

	begin(cut, block);
	if (read_enough(cut, block))
		return false;
	at = cut_head(cut, block);
	end = end_of_lines(block, at);
	if (at < end)
		at = (size_t)(cut_lines(cut, block, block->bytes + at, block->bytes + end) -
			      block->bytes);
	block->tail = block->used;
	/* A line without an end. */
	if (block->used - at > LONG && at >= end) {
		block->tail = at;
		at = block->used;
		cut->inside = true;
	}
	cut->former = block;
	cut->from = at;
	return !cut->ended || at < block->used;
}
