/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomset/texthash.h"
#include "lists/reader.h"

#define TEXT_BYTES   (BATCH_RECORDS * 64)
#define MARGIN_SHARE 16

struct reading {
	struct input *input;
	const struct input_terms *terms;
	batch_taker *take;
	void *to;
	struct input_result *result;
	struct record records[BATCH_RECORDS];
	uint32_t numbers[BATCH_NUMBERS];
	char texts[TEXT_BYTES]; /* of the records */
	size_t records_count, numbers_count, used;
	struct xb_list_bound bound;
	uint64_t held; /* of the budget */
};

/* What is given away at the end needs some room, too: a part of what there is is left for it. */
static bool may_hold(void *to, uint64_t bytes)
{
	struct reading *reading = to;
	struct budget *budget = reading->terms->budget;
	uint64_t more = bytes > reading->held ? bytes - reading->held : 0;
	uint64_t margin = budget->size / MARGIN_SHARE;

	if (!more)
		return true;
	if (budget_take(budget, more + margin))
		return false;
	budget_return(budget, margin);
	reading->held = bytes;
	return true;
}

static int flush(struct reading *reading)
{
	const struct batch batch = {reading->records, reading->numbers, reading->records_count,
				    reading->numbers_count};
	int stop = 0;

	if (batch.records_count || batch.numbers_count)
		stop = reading->take(reading->to, &batch);
	reading->records_count = reading->numbers_count = reading->used = 0;
	return stop;
}

static int take_number(struct reading *reading, uint32_t number)
{
	reading->numbers[reading->numbers_count++] = number;
	reading->result->sum += batch_sum(number);
	return reading->numbers_count == BATCH_NUMBERS ? flush(reading) : 0;
}

static int take_text(struct reading *reading, const struct xb_entry *entry)
{
	char *text = reading->texts + reading->used;
	struct record record = {.text = text};

	record.size = strlen(xb_entry_format(entry, text));
	record.hash = texthash(&reading->terms->key, text, record.size);
	reading->result->sum += record.hash;
	reading->used += record.size;
	reading->records[reading->records_count++] = record;
	return reading->records_count == BATCH_RECORDS || TEXT_BYTES - reading->used < XB_ENTRY_TEXT
		       ? flush(reading)
		       : 0;
}

static int take_items(void *to, const struct xb_listfile *file)
{
	struct reading *reading = to;
	int stop = 0;

	for (size_t i = 0; !stop && i < file->count; i++) {
		const struct xb_entry *entry = &file->items[i].entry;

		if (!xb_entry_is_source(entry) && entry->kind != XB_NAME) {
			reading->input->allowed += !reading->input->readings;
			continue;
		}
		if (entry->kind == XB_HOST4 && entry->length == 32 &&
		    reading->terms->numbers == NUMBERS_ADDRESSES)
			stop = take_number(reading, xb_entry_ipv4(entry));
		else
			stop = take_text(reading, entry);
	}
	return stop ?: flush(reading);
}

/* Once, of what is not in the result. */
static void tell(const struct input *input, const struct xb_listfile *file)
{
	if (input->readings)
		return;
	for (size_t i = 0; i < file->noted; i++)
		xb_notice("%s:%" PRIu64 ": %s", input->name, file->notes[i].line,
			  file->notes[i].text);
	if (file->unknown)
		xb_notice("%s: %zu line%s left out (first: %" PRIu64 ": %s)", input->name,
			  file->unknown, file->unknown == 1 ? " was" : "s were",
			  file->first_unknown[0].line, file->first_unknown[0].text);
	if (input->allowed)
		xb_notice("%s: %" PRIu64 " entries are exceptions, and left out", input->name,
			  input->allowed);
}

int entries_read(struct input *input, int fd, uint64_t until, const struct input_terms *terms,
		 batch_taker *take, void *to, struct input_result *result)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	struct xb_listfile_terms list = {
		.name = input->name,
		.format = terms->format,
		.zone = terms->zone,
		.choice = terms->choice,
		.most = UINT64_MAX >> 1,
		.take = take_items,
		.to = reading,
		.may_be_empty = true, /* an empty set */
		.unpacking = terms->unpacking,
		.until = until,
	};
	struct xb_listfile file;
	int stop;

	if (!reading)
		return xb_out_of_memory();
	reading->input = input;
	reading->terms = terms;
	reading->take = take;
	reading->to = to;
	reading->result = result;
	reading->bound = (struct xb_list_bound){.may_hold = may_hold, .to = reading};
	if (terms->budget)
		list.bound = &reading->bound;
	stop = xb_listfile_read_as(fd, input->path, &list, &file);
	result->bytes = file.text_bytes;
	if (!stop)
		tell(input, &file);
	if (!stop)
		xb_listfile_free(&file);
	budget_return(terms->budget, reading->held);
	free(reading);
	return stop;
}
