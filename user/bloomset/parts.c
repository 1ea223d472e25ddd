/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/parts.h"

#include "base/error.h"
#include "bloomset/spillfile.h"
#include "bloomset/table.h"
#include "bloomset/texthash.h"

#define STREAMS_MOST  256
#define STREAMS_LEAST 64
#define POOL_OF_MANY  ((uint64_t)64 << 20)

uint32_t parts_streams(uint64_t bytes)
{
	return bytes >= POOL_OF_MANY ? STREAMS_MOST : STREAMS_LEAST;
}

uint32_t parts_number_streams(const struct rule *rule, uint64_t memory)
{
	uint32_t streams = STREAMS_MOST;

	while (values_bytes(rule, PARTS_NUMBERS / streams) > memory / 8)
		streams *= 2;
	return streams;
}

static int take_number(void *to, uint32_t file, const char *bytes, size_t size)
{
	const uint8_t *parts = (const uint8_t *)bytes;
	struct values *values = to;
	uint32_t number = (uint32_t)parts[0] | (uint32_t)parts[1] << 8 | (uint32_t)parts[2] << 16;

	(void)size;
	number = (uint32_t)values->first + (number & (uint32_t)(values->count - 1));
	values_take(values, file, &number, 1);
	return 0;
}

int parts_give_numbers(struct spill *spill, const struct rule *rule, values_giver *give, void *to)
{
	uint64_t each = PARTS_NUMBERS / spill->count, reading = spillfile_reading(&spill->file);
	struct values values;
	int stop = values_open(&values, rule, each, false);

	budget_use(spill->budget, reading + values_bytes(rule, each));
	for (uint32_t i = 0; !stop && i < spill->count; i++) {
		values_clear(&values, i * each);
		stop = spill_read(spill, i, take_number, &values);
		spill_drop(spill, i);
		if (!stop)
			stop = values_give(&values, give, to);
		xb_progress("comparing", i + 1, spill->count);
	}
	values_close(&values);
	budget_return(spill->budget, reading + values_bytes(rule, each));
	return stop;
}

struct parts {
	const struct rule *rule;
	const struct xb_key *key;
	struct budget *budget;
	struct output *output;
	uint64_t *written;
};

struct filling {
	const struct parts *parts;
	struct table table;
};

static int take_text(void *to, uint32_t file, const char *text, size_t size)
{
	struct filling *filling = to;

	return table_take(&filling->table, file, texthash(filling->parts->key, text, size), text,
			  size);
}

static int give_text(void *to, const char *text, size_t size)
{
	return output_line(to, text, size);
}

struct parting {
	const struct parts *parts;
	struct spill *spill;
	unsigned int level;
};

static int part_text(void *to, uint32_t file, const char *text, size_t size)
{
	struct parting *parting = to;
	uint64_t hash = texthash(parting->parts->key, text, size);

	return spill_put(parting->spill, parts_stream(parting->spill, hash, parting->level), file,
			 text, size);
}

static int give_level(const struct parts *parts, struct spill *spill, unsigned int level);

/* A stream that does not fit into memory, parted once more. */
static int give_parted(const struct parts *parts, struct spill *spill, uint32_t stream,
		       unsigned int level)
{
	uint64_t memory = parts->budget->size / 4;
	struct spill below;
	struct parting parting = {parts, &below, level};
	int stop;

	if (level == PARTS_LEVELS)
		return xb_input_error("too many lines are alike: more memory is needed "
				      "(--memory SIZE)");
	stop = spill_open(&below, parts_streams(memory), memory, parts->budget);
	if (!stop)
		stop = spill_read(spill, stream, part_text, &parting);
	spill_drop(spill, stream);
	if (!stop)
		stop = spill_settle(&below);
	if (!stop)
		stop = give_level(parts, &below, level);
	*parts->written += below.file.written;
	spill_close(&below);
	return stop;
}

/* All that is left. */
static int open_table(struct filling *filling)
{
	return table_open(&filling->table, filling->parts->rule, filling->parts->budget);
}

static int give_stream(struct filling *filling, struct spill *spill, uint32_t stream)
{
	int stop = spill_read(spill, stream, take_text, filling);

	if (!stop)
		stop = table_give(&filling->table, give_text, filling->parts->output);
	if (!stop) {
		spill_drop(spill, stream);
		table_clear(&filling->table);
	}
	return stop;
}

static int give_level(const struct parts *parts, struct spill *spill, unsigned int level)
{
	struct filling filling = {.parts = parts};
	uint64_t reading = spillfile_reading(&spill->file);
	int stop;

	budget_use(parts->budget, reading);
	stop = open_table(&filling);
	for (uint32_t i = 0; !stop && i < spill->count; i++) {
		stop = give_stream(&filling, spill, i);
		if (stop == TABLE_FULL) {
			table_close(&filling.table);
			stop = give_parted(parts, spill, i, level + 1);
			if (!stop)
				stop = open_table(&filling);
		}
		if (!level)
			xb_progress("comparing", i + 1, spill->count);
	}
	table_close(&filling.table);
	budget_return(parts->budget, reading);
	return stop;
}

int parts_give(struct spill *spill, const struct rule *rule, const struct xb_key *key,
	       struct output *output, uint64_t *written)
{
	struct parts parts = {rule, key, spill->budget, output, written};

	return give_level(&parts, spill, 0);
}
