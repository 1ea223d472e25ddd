/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with columns, of which one or two have the addresses: csv and its kin, with quotes by RFC
 * 4180, and tables with blanks. Which columns these are has to be said. The header, if there is
 * one, is the first record, or a comment in front of it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnchoice.h"
#include "lists/columnformat.h"
#include "lists/fields.h"
#include "lists/format.h"
#include "lists/line.h"

#define RECORD_BYTES ((size_t)1 << 16) /* that one record over several lines can have */

struct xb_list_columns {
	struct xb_column_choice choice;
	bool begun; /* the header, or the first record without one, was seen */
	char *record;
	size_t bytes, room;
	uint64_t line;			      /* where a record began that goes on; 0: none does */
	char comment[XB_LIST_LINE_BYTES + 1]; /* the last one in front of the first record */
	struct xb_fields fields, names;
	struct xb_column_sample sample;
	uint8_t says[XB_COLUMN_MOST]; /* bits: of those taken, words that let pass, and that refuse
				       */
};

void xb_listcolumns_end(struct xb_reading *reading)
{
	if (reading->columns)
		free(reading->columns->record);
	free(reading->columns);
	reading->columns = NULL;
}

/* --- header --- */

/* Finds the columns that are known by name. Returns one that is not there; NULL: all are. */
static const char *find_names(struct xb_column_choice *choice, const struct xb_fields *names)
{
	for (size_t i = 0; i < choice->columns; i++) {
		struct xb_column *column = &choice->column[i];

		if (*column->name)
			column->number = xb_fields_find(names, column->name);
		if (!column->number)
			return column->name;
	}
	return NULL;
}

/* Whether the comment in front of the first record is the header. */
static bool is_header_comment(struct xb_list_columns *columns, char separator)
{
	char *line = columns->comment + strspn(columns->comment, XB_BLANKS "#");

	if (!xb_fields_cut(line, separator, &columns->names))
		return !find_names(&columns->choice, &columns->names);
	xb_error_clear();
	return false;
}

/* A field that no address can be: neither dot nor colon. */
static bool is_name(const char *field)
{
	return field && *field && !strpbrk(field, ".:");
}

/* The first record. 1: it is the header. */
static int take_header(struct xb_reading *reading, struct xb_list_columns *columns)
{
	const struct xb_column_choice *choice = &columns->choice;
	const char *missing = find_names(&columns->choice, &columns->fields);
	bool named = false;

	columns->begun = true;
	for (size_t i = 0; i < choice->columns; i++)
		named |= *choice->column[i].name != '\0';
	if (!named)
		return is_name(xb_fields_at(&columns->fields, choice->column[0].number));
	if (!missing)
		return 1;
	reading->hopeless = !is_header_comment(columns, reading->format->separator);
	return reading->hopeless ? xb_input_error("the header has no column '%s'", XB_SHOW(missing))
				 : 0;
}

/* --- records --- */

static bool counts(const struct xb_column_choice *choice, const struct xb_fields *fields)
{
	for (size_t i = 0; i < choice->conditions; i++) {
		const char *field = xb_fields_at(fields, xb_column_of(choice, i)->number);

		if (!field || !xb_condition_meets(&choice->where[i], field, false))
			return false;
	}
	return true;
}

enum { LETS_PASS = 1, REFUSES = 2 };

static uint8_t says(const char *field)
{
	static const struct {
		const char *word;
		uint8_t says;
	} words[] = {{"permit", LETS_PASS}, {"allow", LETS_PASS},  {"accept", LETS_PASS},
		     {"pass", LETS_PASS},   {"ok", LETS_PASS},	   {"deny", REFUSES},
		     {"drop", REFUSES},	    {"reject", REFUSES},   {"block", REFUSES},
		     {"discard", REFUSES},  {"blackhole", REFUSES}};

	/* Nearly all fields begin otherwise. */
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].word[0] == (field[0] | 0x20) &&
		    words[i].word[1] == (field[1] | 0x20) && !strcasecmp(words[i].word, field))
			return words[i].says;
	return 0;
}

/* Rules of a firewall, with lines that permit and lines that deny, are no list. */
static int look_for_rules(struct xb_reading *reading, struct xb_list_columns *columns)
{
	for (size_t i = 0; i < columns->fields.count; i++) {
		const char *field = columns->fields.text[i];

		if (!isalpha((unsigned char)*field))
			continue;
		columns->says[i] |= says(field);
		if (columns->says[i] != (LETS_PASS | REFUSES))
			continue;
		reading->hopeless = true;
		return xb_input_error("by column %zu some lines let pass and others refuse ('%s'): "
				      "choose those that are meant by a condition on it",
				      i + 1, XB_SHOW(field));
	}
	return 0;
}

static int keep(struct xb_reading *reading, struct xb_list_columns *columns)
{
	const struct xb_column_choice *choice = &columns->choice;
	char *text[2] = {NULL, NULL};

	for (size_t i = 0; i < choice->columns - choice->conditions; i++) {
		text[i] = xb_fields_at(&columns->fields, choice->column[i].number);
		if (!text[i] || !*text[i])
			return xb_input_error("there is nothing in column %zu",
					      choice->column[i].number);
	}
	if (!choice->pair)
		xb_columns_sample(&columns->sample, &columns->fields, choice->column[0].number);
	return xb_pair_keep(reading->file, choice->pair, text[0], text[1]);
}

/* Cuts it up. */
static int take_record(struct xb_reading *reading, char *record)
{
	struct xb_list_columns *columns = reading->columns;
	int error = xb_fields_cut(record, reading->format->separator, &columns->fields);

	if (!error && !columns->begun)
		error = take_header(reading, columns);
	if (error || !counts(&columns->choice, &columns->fields))
		return error < 0 ? error : 0;
	return look_for_rules(reading, columns) ?: keep(reading, columns);
}

static int add_line(struct xb_list_columns *columns, const char *line)
{
	size_t size = strlen(line), need = columns->bytes + size + 2;
	int error;

	if (need > RECORD_BYTES)
		return xb_input_error("the quote of line %llu is still open after 64 KiB",
				      (unsigned long long)columns->line);
	error = xb_array_grow(&columns->record, &columns->room, need, 1);
	if (error)
		return error;
	if (columns->bytes)
		columns->record[columns->bytes++] = '\n';
	memcpy(columns->record + columns->bytes, line, size + 1);
	columns->bytes += size;
	return 0;
}

/* A line of a record that goes on over lines, or begins to. */
static int take_part(struct xb_reading *reading, const char *line)
{
	struct xb_list_columns *columns = reading->columns;
	int error;

	if (!columns->line)
		columns->line = reading->file->lines;
	error = add_line(columns, line);
	reading->hopeless = error != 0;
	if (error || xb_fields_are_open(columns->record, reading->format->separator))
		return error;
	columns->line = columns->bytes = 0;
	return take_record(reading, columns->record);
}

static void remember_comment(struct xb_list_columns *columns, const char *line)
{
	if (!columns->begun)
		snprintf(columns->comment, sizeof(columns->comment), "%s", line);
}

static int begin_columns(struct xb_reading *reading)
{
	int error;

	reading->hopeless = true;
	if (!reading->choice || !reading->choice->column)
		return xb_input_error("which column has the addresses has to be said%s",
				      xb_advice(XB_ADVICE_COLUMN));
	reading->columns = calloc(1, sizeof(*reading->columns));
	if (!reading->columns)
		return xb_out_of_memory();
	error = xb_columns_parse(reading->choice->column, reading->choice->where,
				 &reading->columns->choice);
	reading->hopeless = error != 0;
	return error;
}

static int parse_columns(struct xb_reading *reading, char *line)
{
	char separator = reading->format->separator;
	int error = reading->columns ? 0 : begin_columns(reading);

	if (error)
		return error;
	if (reading->columns->line || xb_fields_are_open(line, separator))
		return take_part(reading, line);
	if (!line[strspn(line, XB_BLANKS)])
		return 0;
	if (*line == '#') {
		remember_comment(reading->columns, line);
		return 0;
	}
	return take_record(reading, line);
}

static int finish_columns(struct xb_reading *reading)
{
	const struct xb_list_columns *columns = reading->columns;

	if (!columns)
		return 0;
	if (!columns->line)
		return xb_columns_note(&columns->sample, columns->choice.column[0].number,
				       reading->file);
	return xb_input_error("the quote of line %llu is open at the end",
			      (unsigned long long)columns->line);
}

#define COLUMNS(name, mark)                                                                        \
	{                                                                                          \
		name, NULL, parse_columns, .comments = "#", .separator = mark,                     \
					   .finish = finish_columns                                \
	}

const struct xb_list_format xb_csv_format = COLUMNS("csv", ',');
const struct xb_list_format xb_semicolons_format = COLUMNS("semicolons", ';');
const struct xb_list_format xb_tsv_format = COLUMNS("tsv", '\t');
const struct xb_list_format xb_pipes_format = COLUMNS("pipes", '|');
const struct xb_list_format xb_table_format = COLUMNS("table", ' ');

int xb_listcolumns_detect(struct xb_reading *reading, const char *line)
{
	int error = reading->columns ? 0 : begin_columns(reading);

	if (error || !line[strspn(line, XB_BLANKS)])
		return error;
	if (*line != '#')
		return xb_columns_separate(line, &reading->format);
	remember_comment(reading->columns, line);
	return 0;
}
