/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with columns, of which one or two have the addresses: csv and its kin, with quotes by RFC
 * 4180, and tables with blanks. Which columns these are has to be said. The header, if there is
 * one, is the first record, or a comment in front of it.
 */
#include <errno.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnchoice.h"
#include "lists/columnformat.h"
#include "lists/fields.h"
#include "lists/format.h"
#include "lists/line.h"

#define RECORD_BYTES ((size_t)1 << 16) /* that one record over several lines can have */
#define FIELDS	     (XB_COLUMN_WHERE + 2)

struct xb_list_columns {
	struct xb_column_choice choice;
	bool begun; /* the header, or the first record without one, was seen */
	char *record;
	size_t bytes, room;
	uint64_t line;			      /* where a record began that goes on; 0: none does */
	char comment[XB_LIST_LINE_BYTES + 1]; /* the last one in front of the first record */
};

void xb_listcolumns_end(struct xb_reading *reading)
{
	if (reading->columns)
		free(reading->columns->record);
	free(reading->columns);
	reading->columns = NULL;
}

/* --- header --- */

static bool is_wanted(struct xb_column *column, const char *name, uint32_t number)
{
	if (!*column->name || column->number || strcmp(column->name, name))
		return false;
	column->number = number;
	return true;
}

/* Finds the columns that are known by name. Returns how many were found here. */
static size_t name_columns(struct xb_column_choice *choice, const char *record, char separator)
{
	struct xb_fields rest = xb_fields_begin(record, separator);
	char field[XB_FIELD_BYTES];
	size_t found = 0;

	for (uint32_t number = 1; !rest.ended && number <= XB_COLUMN_MOST; number++) {
		if (xb_fields_next(&rest, field)) {
			xb_error_clear();
			break;
		}
		found += is_wanted(&choice->first, field, number);
		found += is_wanted(&choice->second, field, number);
		for (size_t i = 0; i < choice->conditions; i++)
			found += is_wanted(&choice->where[i].column, field, number);
	}
	return found;
}

/* The first column without a number; NULL: all have one. */
static const struct xb_column *unnamed(const struct xb_column_choice *choice)
{
	if (!choice->first.number)
		return &choice->first;
	if (choice->how != XB_COLUMN_ALONE && !choice->second.number)
		return &choice->second;
	for (size_t i = 0; i < choice->conditions; i++)
		if (!choice->where[i].column.number)
			return &choice->where[i].column;
	return NULL;
}

static void forget_names(struct xb_column_choice *choice)
{
	if (*choice->first.name)
		choice->first.number = 0;
	if (*choice->second.name)
		choice->second.number = 0;
	for (size_t i = 0; i < choice->conditions; i++)
		if (*choice->where[i].column.name)
			choice->where[i].column.number = 0;
}

/* Whether the comment in front of the first record is the header. */
static bool is_header_comment(struct xb_list_columns *columns, char separator)
{
	const char *line = columns->comment + strspn(columns->comment, XB_BLANKS "#");

	if (name_columns(&columns->choice, line, separator) && !unnamed(&columns->choice))
		return true;
	forget_names(&columns->choice);
	return false;
}

/* --- records --- */

/* What the choice asks of a record, in the order of asked(). */
struct fields {
	char text[FIELDS][XB_FIELD_BYTES];
	bool there[FIELDS];
};

static uint32_t asked(const struct xb_column_choice *choice, size_t i)
{
	return i == 0	? choice->first.number
	       : i == 1 ? choice->second.number
			: choice->where[i - 2].column.number;
}

static int read_fields(const struct xb_column_choice *choice, const char *record, char separator,
		       struct fields *fields)
{
	struct xb_fields rest = xb_fields_begin(record, separator);
	char field[XB_FIELD_BYTES];

	memset(fields->there, 0, sizeof(fields->there));
	for (uint32_t number = 1; !rest.ended; number++) {
		int error = xb_fields_next(&rest, field);

		if (error)
			return error;
		for (size_t i = 0; i < choice->conditions + 2; i++) {
			if (asked(choice, i) != number)
				continue;
			memcpy(fields->text[i], field, sizeof(field));
			fields->there[i] = true;
		}
	}
	return 0;
}

static bool counts(const struct xb_column_choice *choice, const struct fields *fields)
{
	for (size_t i = 0; i < choice->conditions; i++)
		if (!fields->there[i + 2] ||
		    strcmp(fields->text[i + 2], choice->where[i].value) != 0)
			return false;
	return true;
}

static int keep(struct xb_reading *reading, const struct xb_column_choice *choice,
		struct fields *fields)
{
	char *first = fields->text[0], *second = fields->text[1];
	struct xb_item item = {0};

	if (!fields->there[0] || !*first)
		return xb_input_error("there is nothing in column %u", choice->first.number);
	if (choice->how != XB_COLUMN_ALONE && (!fields->there[1] || !*second))
		return xb_input_error("there is nothing in column %u", choice->second.number);
	switch (choice->how) {
	case XB_COLUMN_ALONE:
		return xb_addresses_keep(reading->file, first, &item, "");
	case XB_COLUMN_TO:
		return xb_addresses_keep_to(reading->file, first, second, &item);
	case XB_COLUMN_MASK:
		return xb_addresses_keep_mask(reading->file, first, second, &item);
	case XB_COLUMN_COUNT:
		return xb_addresses_keep_count(reading->file, first, second, &item);
	}
	return -EINVAL;
}

/* A field that no address can be: neither dot nor colon. */
static bool is_name(const struct fields *fields)
{
	return fields->there[0] && *fields->text[0] && !strpbrk(fields->text[0], ".:");
}

/* The first record. 1: it is the header. */
static int take_header(struct xb_reading *reading, const char *record)
{
	struct xb_list_columns *columns = reading->columns;
	char separator = reading->format->separator;
	const struct xb_column *missing = unnamed(&columns->choice);
	struct fields fields = {0};

	columns->begun = true;
	if (missing) {
		name_columns(&columns->choice, record, separator);
		missing = unnamed(&columns->choice);
		if (!missing)
			return 1;
		forget_names(&columns->choice);
		reading->hopeless = !is_header_comment(columns, separator);
		return reading->hopeless ? xb_input_error("the header has no column '%s'",
							  XB_SHOW(missing->name))
					 : 0;
	}
	if (read_fields(&columns->choice, record, separator, &fields)) {
		xb_error_clear();
		return 0;
	}
	return is_name(&fields);
}

static int take_record(struct xb_reading *reading, const char *record)
{
	struct xb_list_columns *columns = reading->columns;
	struct fields fields = {0};
	int error = columns->begun ? 0 : take_header(reading, record);

	if (error)
		return error < 0 ? error : 0;
	error = read_fields(&columns->choice, record, reading->format->separator, &fields);
	if (error || !counts(&columns->choice, &fields))
		return error;
	return keep(reading, &columns->choice, &fields);
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
	if (!reading->columns || !reading->columns->line)
		return 0;
	return xb_input_error("the quote of line %llu is open at the end",
			      (unsigned long long)reading->columns->line);
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
