/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of formats, how one is told from its first line, and what becomes of each line. */
#include "lists/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "lists/columnchoice.h"
#include "lists/foreign.h"
#include "lists/hint.h"
#include "lists/jsonpath.h"
#include "lists/line.h"
#include "lists/mmdbpath.h"
#include "lists/places.h"

/* How formats follow each other is how messages name them. */
static const struct xb_list_format *const formats[] = {
	&xb_plain_format,      &xb_netset_format,   &xb_spamhaus_format,  &xb_spamhaus_json_format,
	&xb_ipsum_format,      &xb_ipset_format,    &xb_hosts_format,	  &xb_adblock_format,
	&xb_dnsmasq_format,    &xb_unbound_format,  &xb_rpz_format,	  &xb_domains_format,
	&xb_ruleset_format,    &xb_regex_format,    &xb_urls_format,	  &xb_smartdns_format,
	&xb_ip4set_format,     &xb_ip4trie_format,  &xb_ip6trie_format,	  &xb_dnset_format,
	&xb_iptables_format,   &xb_nft_format,	    &xb_deny_format,	  &xb_geo_format,
	&xb_p2p_format,	       &xb_ipfilter_format, &xb_words_format,	  &xb_csv_format,
	&xb_semicolons_format, &xb_tsv_format,	    &xb_pipes_format,	  &xb_table_format,
	&xb_json_format,       &xb_extract_format,  &xb_crowdsec_format,  &xb_mikrotik_format,
	&xb_pf_format,	       &xb_csf_format,	    &xb_firewalld_format, &xb_mmdb_format,
	&xb_delegated_format,  &xb_places_format,
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *xb_listfile_formats(void)
{
	static _Thread_local char names[512];
	size_t used = 0;

	for (size_t i = 0; i < FORMATS; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 formats[i]->name);
	return names;
}

int xb_listformat_choose(struct xb_reading *reading, const char *name)
{
	for (size_t i = 0; i < FORMATS; i++) {
		reading->format = formats[i];
		if (!strcmp(reading->format->name, name))
			return 0;
	}
	return xb_input_error("unknown list format '%s'; known: %s", XB_SHOW(name),
			      xb_listfile_formats());
}

static int check_texts(const struct xb_list_choice *choice)
{
	struct xb_column_choice columns;

	if (choice->json)
		return xb_json_paths_check(choice->json);
	if (xb_places_are_asked(choice) || choice->mmdb)
		return xb_places_check(choice)
			       ?: choice->mmdb ? xb_mmdb_conditions_check(choice->mmdb)
					       : 0;
	return choice->column ? xb_columns_parse(choice->column, choice->where, &columns) : 0;
}

/* Which networks are meant, and in what they can be. */
static int check_places(const struct xb_list_choice *choice, const struct xb_list_format *format)
{
	if (!xb_places_are_asked(choice) && !choice->mmdb)
		return 0;
	if (choice->column || choice->json)
		return xb_input_error("countries and the like are for files that say them of each "
				      "network, without columns or JSON to choose%s",
				      xb_advice(XB_ADVICE_COLUMN));
	if (!format || format == &xb_mmdb_format ||
	    (!choice->mmdb && (format == &xb_delegated_format || format == &xb_places_format)))
		return 0;
	return xb_input_error("the format %s does not say that of its networks", format->name);
}

int xb_listformat_begin(struct xb_reading *reading)
{
	const struct xb_list_choice *choice = reading->choice;
	const struct xb_list_format *format = reading->format;
	int error;

	if (!choice)
		return 0;
	if (choice->json && choice->column)
		return xb_input_error("a file has columns, or it is JSON: not both");
	error = check_places(choice, format);
	if (error)
		return error;
	if (choice->where && !choice->column)
		return xb_input_error("conditions are for files with columns%s",
				      xb_advice(XB_ADVICE_COLUMN));
	if (choice->column && format && !format->separator)
		return xb_input_error("the format %s has no columns to choose", format->name);
	if (choice->json && format && format != &xb_json_format)
		return xb_input_error("the format %s is not JSON with a path", format->name);
	if (choice->set && format && !format->sets)
		return xb_input_error("the format %s has no sets to choose", format->name);
	if (choice->bounded && format && format->strict)
		return xb_input_error("in the format %s no line can be left out: others depend on "
				      "it",
				      format->name);
	if (choice->below && format && format != &xb_hosts_format)
		return xb_input_error("only the format hosts has names alone to take with all "
				      "below, not %s",
				      format->name);
	if (choice->json)
		reading->format = &xb_json_format;
	if (choice->mmdb)
		reading->format = &xb_mmdb_format;
	return check_texts(choice);
}

const char *xb_listformat_name(const struct xb_reading *reading)
{
	return reading->format ? reading->format->name : NULL;
}

/* Those that a line may be of, as words for messages. */
struct candidates {
	const struct xb_list_format *last;
	size_t count;
	char names[256]; /* "a, b, c" */
};

static void add_candidate(struct candidates *candidates, const struct xb_list_format *format)
{
	size_t used = strlen(candidates->names);

	candidates->last = format;
	snprintf(candidates->names + used, sizeof(candidates->names) - used, "%s%s",
		 candidates->count++ ? ", " : "", format->name);
}

/* A document's first line says little: it is one only if the line is of no other format. */
static void find_candidates(const char *line, bool document, struct candidates *candidates)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->detect && !formats[i]->document == !document &&
		    formats[i]->detect(line))
			add_candidate(candidates, formats[i]);
}

static void refuse_line(const struct candidates *candidates, const char *line)
{
	char hint[XB_LIST_HINT];

	if (candidates->count)
		xb_input_error("'%s' may be of several list formats: %s%s", XB_SHOW(line),
			       candidates->names, xb_advice(XB_ADVICE_NAME_FORMAT));
	else if (xb_list_hint(line, hint))
		xb_input_error("not in a list format that can be recognized: '%s'; %s",
			       XB_SHOW(line), hint);
	else
		xb_input_error("not in a known list format: '%s'; known: %s", XB_SHOW(line),
			       xb_listfile_formats());
}

/* A guess would list what was not meant: of several formats, whoever imports has to say which.
 * NULL: an input error says why. */
static const struct xb_list_format *detect_format(struct xb_reading *reading, const char *line)
{
	struct candidates candidates = {0};

	if (xb_places_are_asked(reading->choice))
		return xb_delegated_format.detect(line) ? &xb_delegated_format : &xb_places_format;
	find_candidates(line, false, &candidates);
	if (!candidates.count)
		find_candidates(line, true, &candidates);
	reading->recognized = candidates.count == 1;
	if (reading->recognized)
		return candidates.last;
	refuse_line(&candidates, line);
	return NULL;
}

static bool is_among(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (; names; names = strchr(names, ' ')) {
		names += *names == ' ';
		if (!strncmp(names, name, size) && (!names[size] || names[size] == ' '))
			return true;
	}
	return false;
}

/* Whether the line shows that the file is of other formats than it seemed so far; then an error
 * says which. While nothing has been recognized, it can only have seemed a comment. */
static bool is_contradicted(const struct xb_reading *reading, const char *line)
{
	struct candidates candidates = {0};

	if (reading->format && !reading->recognized)
		return false;
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->marks &&
		    (!reading->format || is_among(formats[i]->passes_for, reading->format->name)) &&
		    formats[i]->marks(line))
			add_candidate(&candidates, formats[i]);
	if (candidates.count && reading->format)
		xb_input_error("'%s' fits the formats %s, but the lines before it fit %s%s",
			       XB_SHOW(line), candidates.names, reading->format->name,
			       xb_advice(XB_ADVICE_NAME_FORMAT));
	else if (candidates.count)
		xb_input_error("'%s' may be a comment, or as in the formats %s%s", XB_SHOW(line),
			       candidates.names, xb_advice(XB_ADVICE_NAME_FORMAT));
	return candidates.count;
}

#define TOO_LONG "line longer than %d bytes"

/* While the format is open, what is a comment in any. */
static bool is_comment(const struct xb_reading *reading, const char *line)
{
	const struct xb_list_format *format = reading->format;

	if (!strncmp(line, "//", 2) && (!format || format->slashes))
		return true;
	if (format && format->excepts && !reading->recognized && xb_line_excepts(line))
		return false;
	return strchr(format ? format->comments : "#;!", *line);
}

/* A line is taken as a whole or not at all. error: of the parser. */
static int leave_out(struct xb_listfile *file, int error, const char *line)
{
	int noted = error == -EINVAL ? xb_line_unknown(file, file->lines, "%s", xb_error_message())
				     : xb_line_unknown(file, file->lines, "'%s'", XB_SHOW(line));

	if (!noted)
		xb_error_clear();
	return noted;
}

/* Before a format's parser: most change what they have kept, and need items for that. */
static int hold_as_meant(const struct xb_reading *reading)
{
	return reading->format->bare ? 0 : xb_listfile_widen(reading->file);
}

#define MARK_BYTES 320 /* of a line, in which the mark of another format must be */

static int parse_line(struct xb_reading *reading, char *line)
{
	struct xb_listfile *file = reading->file;
	size_t before = file->count;
	size_t size = strnlen(line, MARK_BYTES - 1);
	char start[MARK_BYTES];
	int error;

	memcpy(start, line, size);
	start[size] = '\0';
	error = hold_as_meant(reading);
	if (!error)
		error = reading->format->parse(reading, line);
	if (error != XB_LINE_UNKNOWN && error != -EINVAL)
		return error;
	file->count = before;
	if (is_contradicted(reading, start))
		return -EINVAL;
	return reading->format->loose && !reading->hopeless
		       ? leave_out(file, error, start)
		       : xb_line_leave_out(reading, before, error);
}

static int take_too_long(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;

	if (reading->format && reading->format->loose)
		return xb_line_unknown(file, file->lines, TOO_LONG, XB_LIST_LINE_BYTES);
	if (reading->format)
		return xb_input_error(TOO_LONG, XB_LIST_LINE_BYTES);
	return xb_input_error(TOO_LONG "; to take each address in it, choose the format extract%s",
			      XB_LIST_LINE_BYTES, xb_advice(XB_ADVICE_FORMAT));
}

/* Whatever was chosen: no format reads what is none of a list. */
static int check_first(struct xb_reading *reading, const char *line)
{
	int error = reading->begun ? 0 : xb_list_check_foreign(line);

	reading->begun = true;
	return error;
}

/* Some mean something, also in front of the line by which the format is recognized. */
static void look_at_comment(struct xb_reading *reading, const char *line)
{
	if (xb_line_goes_on(line))
		reading->open_comment = reading->file->lines;
	reading->conditions += !strncmp(line, "!#if", 4);
	reading->conditions -= !strncmp(line, "!#endif", 7) && reading->conditions;
}

static int take_trimmed(struct xb_reading *reading, char *line)
{
	int error;

	reading->indented = *line == ' ' || *line == '\t';
	line = xb_line_trim(line);
	if (!*line)
		return 0;
	if (is_comment(reading, line)) {
		look_at_comment(reading, line);
		return is_contradicted(reading, line) ? -EINVAL : 0;
	}
	error = check_first(reading, line);
	if (error)
		return error;
	if (!reading->format)
		reading->format = detect_format(reading, line);
	if (!reading->format)
		return -EINVAL;
	return reading->format->document ? 0 : parse_line(reading, line);
}

/* With the blanks that they have, which may separate columns. */
static int take_with_columns(struct xb_reading *reading, char *line)
{
	bool says = *line && *line != '#';
	int error = says ? check_first(reading, line) : 0;

	if (!error && !reading->format)
		error = xb_listcolumns_detect(reading, line);

	return error || !reading->format ? error : parse_line(reading, line);
}

static bool has_columns(const struct xb_reading *reading)
{
	return reading->format ? reading->format->separator
			       : reading->choice && reading->choice->column;
}

/* A document may be one line. */
static bool may_be_document(const struct xb_reading *reading, const char *line)
{
	struct candidates candidates = {0};

	if (!reading->format && !has_columns(reading))
		find_candidates(line + strspn(line, XB_BLANKS "\xef\xbb\xbf"), true, &candidates);
	return candidates.count;
}

static int take_line(struct xb_reading *reading, char *line, size_t size)
{
	bool marked = reading->file->lines == 1 && !strncmp(line, "\xef\xbb\xbf", 3);

	if (memchr(line, '\0', size))
		return xb_input_error("binary data, not a list");
	if (size && line[size - 1] == '\r')
		line[--size] = '\0';
	if (size > XB_LIST_LINE_BYTES && !may_be_document(reading, line))
		return take_too_long(reading);
	line += marked ? 3 : 0;
	return has_columns(reading) ? take_with_columns(reading, line)
				    : take_trimmed(reading, line);
}

/* One that may begin a document, which then goes on as it is. */
static int take_first_line(struct xb_reading *reading, char *line, size_t size)
{
	char before[XB_LIST_LINE_PART];
	int error;

	memcpy(before, line, size);
	error = take_line(reading, line, size);
	if (!error && xb_listformat_is_document(reading))
		memcpy(line, before, size);
	return error;
}

int xb_listformat_take(struct xb_reading *reading, char *line, size_t size)
{
	const struct xb_list_format *format = reading->format;
	int taken = format && format->quick ? format->quick(reading, line, size) : 0;

	if (taken)
		return taken;
	return format || size > XB_LIST_LINE_PART ? take_line(reading, line, size)
						  : take_first_line(reading, line, size);
}

bool xb_listformat_is_document(const struct xb_reading *reading)
{
	return reading->format && reading->format->document;
}

bool xb_listformat_is_binary(const struct xb_reading *reading)
{
	return reading->format && reading->format->begins;
}

void xb_listformat_look(struct xb_reading *reading, const char *bytes, size_t size)
{
	for (size_t i = 0; i < FORMATS && !reading->format; i++)
		if (formats[i]->begins && formats[i]->begins(bytes, size))
			reading->format = formats[i];
}

bool xb_listformat_ends_at_line(const struct xb_reading *reading)
{
	return reading->format && !reading->format->begins &&
	       (reading->format->document || reading->format->separator);
}

/* Of what was allocated, only that is in memory. */
static int may_hold_text(struct xb_reading *reading, size_t bytes)
{
	struct xb_list_bound *bound = reading->file->bound;
	int error = bound ? xb_listfile_may_grow(reading->file, bytes - bound->text) : 0;

	if (bound && !error)
		bound->text = bytes;
	return error;
}

int xb_listformat_add(struct xb_reading *reading, const char *bytes, size_t size)
{
	size_t need = reading->text_bytes + size + 1;
	int error;

	if (need > XB_LIST_TEXT_BYTES)
		return xb_input_error("more than %d MiB, which has to be read as a whole",
				      XB_LIST_TEXT_BYTES >> 20);
	error = may_hold_text(reading, need);
	if (error)
		return error;
	error = xb_array_grow(&reading->text, &reading->text_room, need, 1);
	if (error)
		return error;
	if (!reading->text_line)
		reading->text_line = reading->file->lines ?: 1;
	memcpy(reading->text + reading->text_bytes, bytes, size);
	reading->text_bytes += size;
	reading->text[reading->text_bytes] = '\0';
	return 0;
}

static int finish_document(struct xb_reading *reading)
{
	char *text = reading->text;
	size_t size = reading->text_bytes;
	uint64_t lines;
	int error = 0;

	if (text && reading->format->begins)
		return hold_as_meant(reading) ?: reading->format->document(reading, text, size);
	if (!text)
		return 0;
	if (!strncmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	/* As in a file with lines: what stands behind the last line end is one, too. */
	lines = reading->text_line - 1 + xb_line_count_ends(text, size) +
		(size && text[size - 1] != '\n');
	if (memchr(text, '\0', size))
		error = xb_input_error("binary data, not a list");
	else if (reading->format != &xb_extract_format)
		error = check_first(reading, text);
	if (!error)
		error = hold_as_meant(reading) ?: reading->format->document(reading, text, size);
	if (!error)
		reading->file->lines = lines;
	return error;
}

int xb_listformat_finish(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	int error = xb_listformat_is_document(reading) ? finish_document(reading) : 0;

	if (!error) /* sorted from one place to another */
		error = xb_listfile_may_grow(file, file->count * sizeof(*file->items));
	if (!error && file->bare)
		error = xb_ipv4_sort(&file->bare, file->count);
	else if (!error)
		error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
	file->room = file->count;
	if (error || !reading->format || !reading->format->finish)
		return error;
	return reading->format->finish(reading);
}

void xb_listformat_end(struct xb_reading *reading)
{
	xb_listsets_end(reading);
	xb_listunbound_end(reading);
	xb_listzone_end(reading);
	xb_listiptables_end(reading);
	xb_listweb_end(reading);
	xb_listmikrotik_end(reading);
	xb_listcolumns_end(reading);
	xb_listplaces_end(reading);
	free(reading->text);
	reading->text = NULL;
}
