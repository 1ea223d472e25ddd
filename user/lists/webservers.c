/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iptables, deny, geo: configurations of firewalls and web servers whose lines drop sources or let
 * them pass. What passes is taken out of what is dropped; it goes to no allowlist, since it holds
 * for that program alone.
 */
#include <stdio.h>
#include <strings.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* With a netmask as a prefix length: 192.0.2.0/255.255.255.0. */
static const char *with_length(const char *text, char room[XB_ENTRY_TEXT])
{
	const char *mask = strchr(text, '/');
	int length = mask ? xb_addresses_mask_length(mask + 1) : -1;

	if (length < 0)
		return text;
	snprintf(room, XB_ENTRY_TEXT, "%.*s/%d", (int)(mask - text), text, length);
	return room;
}

/* Of what passes, nothing that seems an address is left out: too much would be listed. */
static int keep_source(struct xb_reading *reading, const char *text, bool passes,
		       const char *comment)
{
	struct xb_item item = {.entry.kind = passes ? XB_ALLOW4 : 0};
	char room[XB_ENTRY_TEXT];
	struct xb_span span;
	int error = xb_addresses_span(reading->file, with_length(text, room), &span);

	if (error && passes && xb_line_looks_like_address(text)) {
		reading->hopeless = true;
		return xb_input_error("what passes is not understood: '%s'", XB_SHOW(text));
	}
	return error ? error : xb_span_keep(reading->file, &span, &item, passes ? "" : comment);
}

/* The items from there on decide before all others. */
static void put_first(struct xb_listfile *file, size_t from)
{
	for (size_t i = from; i < file->count; i++)
		file->items[i].entry.line = 0;
}

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

static int finish_in_order(struct xb_reading *reading)
{
	return xb_span_except(reading->file, XB_EARLIEST);
}

/* --- deny: `deny 192.0.2.1;` of nginx, `Deny from` and `Require not ip` of Apache --- */

static const struct directive {
	const char *words;
	bool passes;
	bool of_apache; /* several sources, and what may pass is not bound to the order of lines */
} directives[] = {
	{"deny from ", false, true}, {"require not ip ", false, true}, {"allow from ", true, true},
	{"deny ", false, false},     {"allow ", true, false},
};

static const struct directive *find_directive(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(directives); i++)
		if (!strncasecmp(line, directives[i].words, strlen(directives[i].words)))
			return &directives[i];
	return NULL;
}

static bool is_around(const char *line)
{
	static const char *const around[] = {"order ", "satisfy ", "require all granted",
					     "allow from all", "allow all;"};

	for (size_t i = 0; i < ARRAY_SIZE(around); i++)
		if (!strncasecmp(line, around[i], strlen(around[i])))
			return true;
	return *line == '<' && line[strlen(line) - 1] == '>';
}

static bool detect_deny(const char *line)
{
	return find_directive(line) || !strncasecmp(line, "order ", 6) ||
	       !strncasecmp(line, "require all granted", 19) ||
	       !strncasecmp(line, "<RequireAll>", 12) || !strncasecmp(line, "<Limit", 6);
}

/* `10.1` and `10.1.` of Apache are 10.1.0.0/16. */
static const char *complete(const char *word, char full[XB_ENTRY_TEXT])
{
	size_t size = strlen(word), octets = 0;

	size -= size && word[size - 1] == '.';
	for (size_t i = 0; i < size; i++)
		octets += word[i] == '.';
	if (strspn(word, XB_DIGITS ".") < size || octets > 2 || size > 12)
		return word;
	snprintf(full, XB_ENTRY_TEXT, "%.*s%s/%zu", (int)size, word, &".0.0.0"[2 * octets],
		 8 * (octets + 1));
	return full;
}

static int take_apache(struct xb_reading *reading, char *rest, bool passes)
{
	size_t before = reading->file->count;
	char full[XB_ENTRY_TEXT];
	const char *word;
	int error = 0;

	while (!error && (word = xb_line_word(&rest))) {
		error = keep_source(reading, complete(word, full), passes, "");
	}
	if (passes)
		put_first(reading->file, before);
	return error;
}

static int parse_deny(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#");
	const struct directive *directive;
	char *end;

	line = xb_line_trim(line);
	directive = find_directive(line);
	if (!*line || is_around(line))
		return 0;
	if (!directive)
		return XB_LINE_UNKNOWN;
	line += strlen(directive->words);
	line += strspn(line, XB_BLANKS);
	if (directive->of_apache)
		return take_apache(reading, line, directive->passes);
	end = strchr(line, ';');
	if (!end || end[1])
		return XB_LINE_UNKNOWN;
	*end = '\0';
	return keep_source(reading, xb_line_trim(line), directive->passes, comment);
}

const struct xb_list_format xb_deny_format = {
	"deny", detect_deny, parse_deny, .comments = "#", .loose = true, .finish = finish_in_order};

/* --- geo: `192.0.2.1 1;` of nginx, in a block or included in one. One value only may be other than
 * "0" and the default: which of several are bad nobody can tell. --- */

static bool is_setting(const char *line)
{
	static const char *const settings[] = {"ranges;", "proxy_recursive;", "proxy ", "}"};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (!strncmp(line, settings[i], strlen(settings[i])))
			return true;
	return false;
}

static bool opens_block(const char *line)
{
	return !strncmp(line, "geo ", 4) && line[strlen(line) - 1] == '{';
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

static bool says_no(const struct xb_reading *reading, const char *value)
{
	return !*value || !strcmp(value, "0") ||
	       (reading->in_block && !strcmp(value, reading->other));
}

static int take_default(struct xb_reading *reading, const char *value)
{
	snprintf(reading->other, sizeof(reading->other), "%s", XB_SHOW(value));
	if (!*value || !strcmp(value, "0"))
		return 0;
	return xb_input_error("the value of all others is '%s', not 0: who is meant cannot be "
			      "listed",
			      reading->other);
}

static int parse_geo(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#"), *value;
	char *word, *rest;

	line = xb_line_trim(line);
	rest = line;
	if (!*line || is_setting(line) || opens_block(line))
		return 0;
	word = xb_line_word(&rest);
	value = take_value(rest);
	if (!value)
		return xb_input_error("'%s' is not followed by a value and ';'", XB_SHOW(word));
	if (!strcmp(word, "default"))
		return take_default(reading, value);
	if (!strcmp(word, "include"))
		return xb_input_error("the addresses are in another file: '%s'", XB_SHOW(value));
	if (says_no(reading, value))
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
	return xb_span_except(reading->file, XB_LONGEST);
}

const struct xb_list_format xb_geo_format = {"geo", detect_geo, parse_geo, .comments = "#",
					     .finish = finish_geo};
