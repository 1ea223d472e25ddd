/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose rows say where networks are: delegated, as the regional registries count what they
 * have given out; and places, with commas or tabs: geofeeds (RFC 8805), DB-IP, iptoasn, and others
 * with a header. Of several rows with an address the longest prefix counts, as in RFC 8805.
 */
#include <stdio.h>
#include <strings.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/columnformat.h"
#include "lists/fields.h"
#include "lists/format.h"
#include "lists/line.h"
#include "lists/places.h"

/* Which column says what, from 1; 0: none does. */
struct layout {
	unsigned int first, last; /* last: 0 for addresses that are in one column */
	unsigned int country, continent, asn;
};

struct xb_list_rows {
	struct xb_places places;
	struct layout layout;
	char separator;	      /* 0: no row was seen */
	struct xb_fields row; /* the present one */
};

void xb_listplaces_end(struct xb_reading *reading)
{
	if (reading->rows)
		xb_places_free(&reading->rows->places);
	free(reading->rows);
	reading->rows = NULL;
}

static int begin_rows(struct xb_reading *reading)
{
	if (reading->rows)
		return 0;
	reading->hopeless = true;
	if (!xb_places_are_asked(reading->choice))
		return xb_input_error("rows that say where networks are: which are meant has to be "
				      "said%s",
				      xb_advice(XB_ADVICE_PLACES));
	reading->rows = calloc(1, sizeof(*reading->rows));
	if (!reading->rows)
		return xb_out_of_memory();
	reading->hopeless = false;
	return xb_places_parse(reading->choice, &reading->rows->places);
}

/* The text of a column; "" where the row has none. */
static const char *field_of(const struct xb_fields *row, unsigned int column)
{
	return xb_fields_at(row, column) ?: "";
}

/* Those that are not meant take their addresses out of what is. */
static int keep(struct xb_reading *reading, const struct xb_place *place,
		const struct xb_span *span)
{
	static const struct xb_entry somewhere = {.kind = XB_HOST4, .length = 32};
	struct xb_places *places = &reading->rows->places;
	enum xb_place_verdict verdict = xb_places_judge(places, place);
	struct xb_item item = {0};

	places->nowhere += verdict == XB_PLACE_NOWHERE;
	if (verdict != XB_PLACE_MEANT)
		item.entry = xb_entry_allow(&somewhere);
	return xb_span_keep_narrow(reading->file, span, &item);
}

static int finish_rows(struct xb_reading *reading)
{
	int error = reading->rows ? xb_places_end(&reading->rows->places, reading->file) : 0;

	if (!error)
		error = xb_span_except(reading->file, XB_LONGEST);
	if (error || !reading->rows || reading->file->count)
		return error;
	return xb_input_error("none of its networks is among those that were asked for");
}

/* --- delegated: registry|cc|type|start|value|date|status --- */

enum { REGISTRY, COUNTRY, TYPE, START, VALUE, DATE, STATUS, DELEGATED_FIELDS };

/* In front: version|registry|serial|records|startdate|enddate|UTCoffset */
static bool detect_delegated(const char *line)
{
	size_t digits = strspn(line, XB_DIGITS "."), fields = 1;

	for (const char *mark = line; (mark = strchr(mark, '|')); mark++)
		fields++;
	return digits && line[digits] == '|' && fields == 7 &&
	       strspn(line + digits + 1, "abcdefghijklmnopqrstuvwxyz") ==
		       strcspn(line + digits + 1, "|");
}

/* value: how many addresses. */
static int count_span(struct xb_listfile *file, const char *start, const char *value,
		      struct xb_span *span)
{
	size_t digits = strspn(value, XB_DIGITS);
	uint64_t count = digits && digits < 12 && !value[digits] ? strtoull(value, NULL, 10) : 0;
	int error = xb_addresses_span(file, start, span);

	if (error)
		return error;
	if (span->ipv6 || !count || count - 1 > UINT32_MAX - (uint32_t)(span->first >> 96))
		return xb_input_error("there are no %s addresses from %s on", XB_SHOW(value),
				      XB_SHOW(start));
	span->last = span->first + ((xb_address)count << 96) - 1;
	return 0;
}

/* value: a prefix length. */
static int prefix_span(struct xb_listfile *file, const char *start, const char *value,
		       struct xb_span *span)
{
	char text[XB_ENTRY_TEXT];

	snprintf(text, sizeof(text), "%.100s/%.20s", start, value);
	return xb_addresses_span(file, text, span);
}

static int take_delegation(struct xb_reading *reading, const struct xb_fields *row)
{
	const char *type = row->text[TYPE], *country = row->text[COUNTRY],
		   *status = row->text[STATUS];
	struct xb_place place = {.country = xb_place_code(country, strlen(country)),
				 .continent = -1};
	struct xb_span span;
	int error;

	if (strcmp(status, "allocated") != 0 && strcmp(status, "assigned") != 0)
		return 0;
	if (!strcmp(type, "ipv4"))
		error = count_span(reading->file, row->text[START], row->text[VALUE], &span);
	else if (!strcmp(type, "ipv6"))
		error = prefix_span(reading->file, row->text[START], row->text[VALUE], &span);
	else
		return 0;
	return error ? error : keep(reading, &place, &span);
}

static int parse_delegated(struct xb_reading *reading, char *line)
{
	struct xb_fields *row;
	int error = begin_rows(reading);

	if (error)
		return error;
	row = &reading->rows->row;
	if (reading->choice->continent || reading->choice->asn) {
		reading->hopeless = true;
		return xb_input_error("of the networks in it only the country is known");
	}
	if (detect_delegated(line))
		return 0;
	error = xb_fields_cut(line, '|', row);
	if (error)
		return error;
	/* A summary: registry|*|type|*|count|summary */
	if (row->count == 6 && !strcmp(row->text[5], "summary"))
		return 0;
	if (row->count < DELEGATED_FIELDS)
		return xb_input_error("a delegation of a registry has %d columns, not %zu",
				      DELEGATED_FIELDS, row->count);
	return take_delegation(reading, row);
}

const struct xb_list_format xb_delegated_format = {"delegated", detect_delegated, parse_delegated,
						   .comments = "#", .finish = finish_rows};

/* --- places --- */

struct word {
	const char *name;
	size_t at; /* of the layout */
};

#define AT(member) offsetof(struct layout, member)

/* Of two names for one thing the first here counts. */
static const struct word words[] = {
	{"network", AT(first)},
	{"prefix", AT(first)},
	{"cidr", AT(first)},
	{"ip_prefix", AT(first)},
	{"ip_range", AT(first)},
	{"start_ip", AT(first)},
	{"ip_start", AT(first)},
	{"range_start", AT(first)},
	{"ip_range_start", AT(first)},
	{"end_ip", AT(last)},
	{"ip_end", AT(last)},
	{"range_end", AT(last)},
	{"ip_range_end", AT(last)},
	{"country_code", AT(country)},
	{"country_iso_code", AT(country)},
	{"cc", AT(country)},
	{"country", AT(country)},
	{"continent_code", AT(continent)},
	{"continent", AT(continent)},
	{"asn", AT(asn)},
	{"autonomous_system_number", AT(asn)},
	{"as_number", AT(asn)},
};

static void read_header(const struct xb_fields *row, struct layout *layout)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		unsigned int *column = (unsigned int *)((char *)layout + words[i].at);

		for (unsigned int number = 1; number <= row->count && !*column; number++)
			if (!strcasecmp(field_of(row, number), words[i].name))
				*column = number;
	}
}

static bool is_code(const char *text)
{
	return xb_place_continent(text, strlen(text)) >= 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, XB_DIGITS)];
}

/* Without a header: only what is known to be written so. */
static struct layout layout_of(const struct xb_fields *row)
{
	const char *second = field_of(row, 2), *third = field_of(row, 3),
		   *fourth = field_of(row, 4);

	if (!*second || is_code(second))
		return (struct layout){.first = 1, .country = 2}; /* a geofeed */
	if (!xb_addresses_can_keep(second))
		return (struct layout){0};
	if (row->count == 3 && is_code(third)) /* DB-IP's countries */
		return (struct layout){.first = 1, .last = 2, .country = 3};
	if (row->count == 4 && is_number(third)) /* DB-IP's ASNs */
		return (struct layout){.first = 1, .last = 2, .asn = 3};
	if (row->count == 5 && is_number(third)) /* iptoasn */
		return (struct layout){.first = 1, .last = 2, .asn = 3, .country = 4};
	if (row->count == 8 && is_code(third) && is_code(fourth)) /* DB-IP's cities */
		return (struct layout){.first = 1, .last = 2, .continent = 3, .country = 4};
	return (struct layout){0};
}

/* Whether the columns say what was asked for. */
static int check_layout(const struct xb_list_rows *rows, const struct xb_fields *row)
{
	const struct layout *layout = &rows->layout;
	const struct xb_places *places = &rows->places;
	const char *missing = !layout->first				   ? "network"
			      : places->by_country && !layout->country	   ? "country"
			      : places->by_continent && !layout->continent ? "continent"
			      : places->by_asn && !layout->asn		   ? "AS"
									   : NULL;

	if (!missing)
		return 0;
	for (unsigned int number = 1; number <= row->count; number++)
		if (!strcmp(field_of(row, number), "geoname_id"))
			return xb_input_error("the countries of its networks are numbers that "
					      "another file explains: take the database (.mmdb)");
	return xb_input_error(
		"which column has the %s cannot be told: columns can be chosen, too%s", missing,
		xb_advice(XB_ADVICE_COLUMN));
}

/* The first row. 1: it is a header. */
static int begin_layout(struct xb_reading *reading, const struct xb_fields *row)
{
	struct xb_list_rows *rows = reading->rows;
	bool header = !xb_addresses_can_keep(row->text[0]);
	int error;

	if (header)
		read_header(row, &rows->layout);
	else
		rows->layout = layout_of(row);
	error = check_layout(rows, row);
	reading->hopeless = error;
	return error ? error : header;
}

static int row_span(struct xb_listfile *file, const struct layout *layout,
		    const struct xb_fields *row, struct xb_span *span)
{
	struct xb_span last;
	int error = xb_addresses_span(file, field_of(row, layout->first), span);

	if (error || !layout->last)
		return error;
	error = xb_addresses_span(file, field_of(row, layout->last), &last);
	if (!error && (span->ipv6 != last.ipv6 || span->first > last.last))
		error = xb_input_error("the range ends before it begins");
	span->last = last.last;
	return error;
}

static int take_row(struct xb_reading *reading, const struct xb_fields *row)
{
	const struct layout *layout = &reading->rows->layout;
	const char *country = field_of(row, layout->country),
		   *continent = field_of(row, layout->continent), *asn = field_of(row, layout->asn);
	struct xb_place place = {.country = xb_place_code(country, strlen(country)),
				 .continent = xb_place_continent(continent, strlen(continent)),
				 .asn = xb_place_asn(asn, strlen(asn))};
	struct xb_span span;
	int error = row_span(reading->file, layout, row, &span);

	return error ? error : keep(reading, &place, &span);
}

/* What separates the columns, by the first row. */
static int find_separator(struct xb_list_rows *rows, const char *line)
{
	const struct xb_list_format *format = NULL;
	int error = xb_columns_separate(line, &format);

	if (!error)
		rows->separator = format->separator;
	return error;
}

static int parse_places(struct xb_reading *reading, char *line)
{
	int error = begin_rows(reading);
	struct xb_list_rows *rows = reading->rows;
	bool first = rows && !rows->separator;

	if (!error && first)
		error = find_separator(rows, line);
	if (!error)
		error = xb_fields_cut(line, rows->separator, &rows->row);
	if (!error && first)
		error = begin_layout(reading, &rows->row);
	if (error)
		return error < 0 ? error : 0;
	return take_row(reading, &rows->row);
}

const struct xb_list_format xb_places_format = {"places", NULL, parse_places, .comments = "#",
						.finish = finish_rows};
