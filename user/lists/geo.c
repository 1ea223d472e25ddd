/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * geo: `192.0.2.1 1;` of nginx, in a block or included in one. One value only may be other than "0"
 * and the default: which of several are bad nobody can tell.
 */
#include <stdio.h>

#include "base/array.h"
#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

/* A word, perhaps in double quotes; NULL at the end. */
static char *take_word(char **rest)
{
	char *start = *rest + strspn(*rest, XB_BLANKS), *end;

	if (*start != '"')
		return xb_line_word(rest);
	end = strchr(start + 1, '"');
	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return start + 1;
}

static bool opens_block(const char *line)
{
	return !strncmp(line, "geo ", 4) && strchr(line, '{');
}

static bool detect_geo(const char *line)
{
	size_t size = strspn(line, XB_DIGITS "abcdefABCDEF.:/-"), end = strlen(line);

	if (opens_block(line))
		return true;
	return size && line[size] && strchr(XB_BLANKS, line[size]) && line[end - 1] == ';' &&
	       strpbrk(line, ".:") && strpbrk(line, ".:") < line + size && *line != ':';
}

/* The value without quotes and semicolon; NULL: the line has not just one. */
static const char *take_value(char *rest)
{
	char *end = strchr(rest, ';');
	const char *value;

	if (!end || end[1 + strspn(end + 1, XB_BLANKS)])
		return NULL;
	*end = '\0';
	value = take_word(&rest);
	return xb_line_word(&rest) ? NULL : value;
}

static bool says_no(const char *value)
{
	return !*value || !strcmp(value, "0");
}

static int take_default(const char *value)
{
	return says_no(value)
		       ? 0
		       : xb_input_error("the value of all others is '%s', not 0: who is meant "
					"cannot be listed",
					XB_SHOW(value));
}

/* A block has ranges, or networks. */
static int take_way(struct xb_reading *reading, bool ranges)
{
	bool before = reading->geo_ranges;

	if (reading->geo_begun && before != ranges)
		return xb_input_error("ranges and networks in one block");
	reading->geo_begun = true;
	reading->geo_ranges = ranges;
	return 0;
}

static int refuse_header(const char *text)
{
	return xb_input_error("'%s': sources are what a header says, not who sends packets",
			      XB_SHOW(text));
}

/* Of `geo $bad {`, or `geo $address $bad {`. */
static int open_block(struct xb_reading *reading, char *line)
{
	static const char *const senders[] = {"$remote_addr", "$realip_remote_addr"};
	char shown[XB_SHOWN + 1];
	const char *address, *second;
	bool sender;

	if (reading->in_block || reading->geo_begun)
		return xb_input_error("a second block: which of them is to be listed?");
	if (line[strlen(line) - 1] != '{')
		return xb_input_error("'%s': a block is read with a line for each network",
				      XB_SHOW(line));
	reading->in_block = true;
	snprintf(shown, sizeof(shown), "%s", line);
	xb_line_word(&line);
	address = xb_line_word(&line);
	second = xb_line_word(&line);
	sender = !second || *second != '$';
	for (size_t i = 0; i < ARRAY_SIZE(senders); i++)
		sender |= !strcmp(address, senders[i]);
	return sender ? 0 : refuse_header(shown);
}

/* What the value takes out goes without a comment. */
static int keep_source(struct xb_reading *reading, const char *text, bool passes,
		       const char *comment)
{
	struct xb_item item = {.entry.kind = passes ? XB_ALLOW4 : 0};
	struct xb_span span = {0};
	int error = take_way(reading, strchr(text, '-'));

	if (!error)
		error = xb_addresses_span(reading->file, text, &span);
	/* The source of a packet is never written as ::ffff:192.0.2.1. */
	if (error || span.ipv6 != (strchr(text, ':') != NULL))
		return error;
	return xb_span_keep(reading->file, &span, &item, passes ? "" : comment);
}

static int parse_geo(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#"), *value;
	char *word, *rest;

	line = xb_line_trim(line);
	rest = line;
	if (opens_block(line))
		return open_block(reading, line);
	if (!strcmp(line, "ranges;"))
		return take_way(reading, true);
	if (!*line || *line == '}' || !strcmp(line, "proxy_recursive;"))
		return 0;
	if (!strncmp(line, "proxy ", 6))
		return refuse_header(line);
	word = xb_line_word(&rest);
	value = take_value(rest);
	if (!value)
		return xb_input_error("'%s' is not followed by a value and ';'", XB_SHOW(word));
	if (!strcmp(word, "default"))
		return take_default(value);
	if (!strcmp(word, "include"))
		return xb_input_error("the addresses are in another file: '%s'", XB_SHOW(value));
	if (!strcmp(word, "delete"))
		return xb_input_error("'%s' is deleted, which cannot be read: leave out its line",
				      XB_SHOW(value));
	if (says_no(value))
		return keep_source(reading, word, true, "");
	if (!*reading->value)
		snprintf(reading->value, sizeof(reading->value), "%s", XB_SHOW(value));
	if (strcmp(reading->value, XB_SHOW(value)) != 0)
		return xb_input_error("another value, '%s' after '%s': which are to be listed?",
				      XB_SHOW(value), reading->value);
	return keep_source(reading, word, false, comment);
}

static int finish_geo(struct xb_reading *reading)
{
	return xb_span_except(reading->file, reading->geo_ranges ? XB_LATEST : XB_LONGEST_LAST);
}

const struct xb_list_format xb_geo_format = {"geo",	      detect_geo,     parse_geo,
					     .comments = "#", .strict = true, .finish = finish_geo};
