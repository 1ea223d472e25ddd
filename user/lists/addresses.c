/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of lists of addresses. A wrong line is an error: an address list has no reason to
 * hold anything else. */
#include <jansson.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

#define PLAIN_END XB_BLANKS "#;"

/* As xb_ipv4_read(), of a line behind which XB_LIST_SLACK bytes can be read: how many digits an
 * octet has is no branch, since nobody can predict it. */
static inline const char *read_ipv4_of_line(const char *text, struct xb_entry *entry)
{
	static const uint8_t weight[3][3] = {{1, 0, 0}, {10, 1, 0}, {100, 10, 1}};
	uint32_t address = 0;

	for (int octets = 0; octets < 4; octets++) {
		uint32_t first = (uint32_t)(text[0] - '0'), second = (uint32_t)(text[1] - '0'),
			 third = (uint32_t)(text[2] - '0');
		uint32_t more = (second < 10) + ((second < 10) & (third < 10));
		uint32_t octet = first * weight[more][0] + second * weight[more][1] +
				 third * weight[more][2];

		text += more + 1;
		if ((first > 9) | (octet > 255) | (!first & (more > 0)) |
		    ((octets < 3) & (*text != '.')))
			return NULL;
		text += octets < 3;
		address = address << 8 | octet;
	}
	*entry = (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	return text;
}

/* plain: an entry a line, and perhaps a comment behind it. FireHOL's netsets and Spamhaus's DROP
 * are written so. */

/* By shape only, so that a wrong address in the first line is told as such. */
static bool looks_like_entry(const char *text, const char *end)
{
	size_t size = strcspn(text, end);
	bool ipv6 = memchr(text, ':', size);

	return (ipv6 || memchr(text, '.', size)) &&
	       strspn(text, ipv6 ? XB_DIGITS "abcdefABCDEF.:/" : XB_DIGITS "./") == size;
}

/* Where the comment begins, or the end. */
static char *find_comment(char *line)
{
	char *mark = line + strcspn(line, "#;"), *slashes = line;

	while ((slashes = strstr(slashes, "//")) && slashes < mark) {
		if (slashes > line && strchr(XB_BLANKS, slashes[-1]))
			return slashes;
		slashes++;
	}
	return mark;
}

/* Two addresses, or what is to be two of IPv6. Of IPv4 as it is written here: without zeros in
 * front. */
static bool looks_like_range(const char *text, size_t size)
{
	const char *mark = memchr(text, '-', size), *last = mark ? mark + 1 : NULL;
	size_t first = mark ? (size_t)(mark - text) : 0;
	struct xb_entry entry;

	while (first && strchr(XB_BLANKS, text[first - 1]))
		first--;
	if (!first || strcspn(text, XB_BLANKS "-") != first)
		return false;
	last += strspn(last, XB_BLANKS);
	if (!memchr(text, ':', first))
		return xb_ipv4_read(text, &entry) && xb_ipv4_read(last, &entry) == text + size;
	return memchr(last, ':', strcspn(last, PLAIN_END)) &&
	       looks_like_entry(text, XB_BLANKS "-") && looks_like_entry(last, PLAIN_END);
}

/* [IPv6], perhaps with a port. */
static bool looks_bracketed(const char *text, size_t size)
{
	const char *end = memchr(text, ']', size);

	return *text == '[' && end && memchr(text, ':', (size_t)(end - text)) &&
	       1 + strspn(text + 1, XB_DIGITS "abcdefABCDEF.:") == (size_t)(end - text);
}

/* Behind a semicolon at once may be the next column of others. */
static bool is_sure(const char *mark, const char *line)
{
	char next[XB_ENTRY_TEXT];

	if (*mark != ';' || mark == line || strchr(XB_BLANKS, mark[-1]))
		return true;
	snprintf(next, sizeof(next), "%.*s", (int)strcspn(mark + 1, XB_BLANKS ";,"), mark + 1);
	return !xb_addresses_can_keep(next);
}

static bool detect_plain(const char *line)
{
	const char *mark = find_comment((char *)(uintptr_t)line),
		   *rest = line + strcspn(line, PLAIN_END);
	size_t size = (size_t)(mark - line);

	while (size && strchr(XB_BLANKS, line[size - 1]))
		size--;
	if (!is_sure(mark, line))
		return false;
	if (looks_like_range(line, size))
		return true;
	return (size_t)(rest - line) >= size &&
	       (looks_like_entry(line, PLAIN_END) || looks_bracketed(line, size));
}

/* What stands behind the entry, if that is no range. */
static const char *find_rest(const char *text)
{
	const char *rest = text + strcspn(text, XB_BLANKS);

	rest += strspn(rest, XB_BLANKS);
	return strchr(text, '-') ? "" : rest;
}

/* What ends with a digit is mostly an address, and found to be none fast enough. */
static bool is_domain(const char *line)
{
	size_t size = strcspn(line, XB_BLANKS);

	return size && !strchr(XB_DIGITS, line[size - 1]) && xb_line_looks_like_domain(line, size);
}

static int parse_plain(struct xb_reading *reading, char *line)
{
	char *mark = find_comment(line), *comment = mark + (*mark == '/' ? 2 : *mark != '\0');
	struct xb_item item = {0};
	const char *rest;

	*mark = '\0';
	line = xb_line_trim(line);
	if (is_domain(line))
		return xb_input_error("'%s' is not an address or prefix; to list domains too, "
				      "choose the format domains%s",
				      XB_SHOW(line), xb_advice(XB_ADVICE_FORMAT));
	rest = find_rest(line);
	if (*rest) {
		rest = XB_SHOW(rest);
		line[strcspn(line, XB_BLANKS)] = '\0';
		if (!xb_addresses_can_keep(line))
			return xb_addresses_keep(reading->file, line, &item, "");
		return xb_input_error(
			"unexpected text after the entry: '%s'; a comment begins with "
			"'#' or ';'",
			rest);
	}
	return xb_addresses_keep(reading->file, line, &item, xb_line_trim(comment));
}

/* What long lists are made of. 1: taken; 0: the line is something else. */
static int take_bare_ipv4(struct xb_reading *reading, const char *line, size_t size)
{
	struct xb_item item = {0};
	const char *end = size <= XB_LIST_LINE_BYTES ? read_ipv4_of_line(line, &item.entry) : NULL;

	if (!end || (end != line + size && end + strspn(end, XB_BLANKS) != line + size))
		return 0;
	return xb_line_keep(reading->file, &item) ?: 1;
}

#define LINES_OF_ADDRESSES .comments = "#;", .slashes = true, .bare = true, .quick = take_bare_ipv4

const struct xb_list_format xb_plain_format = {"plain", detect_plain, parse_plain,
					       LINES_OF_ADDRESSES};
const struct xb_list_format xb_netset_format = {"netset", NULL, parse_plain, LINES_OF_ADDRESSES};
const struct xb_list_format xb_spamhaus_format = {"spamhaus", NULL, parse_plain,
						  LINES_OF_ADDRESSES};

/* ipsum: an address, a tab, and the number of lists that name it. */
static bool is_ipsum(const char *line)
{
	const char *tab = strchr(line, '\t');

	return tab && looks_like_entry(line, "\t") && !tab[1 + strspn(tab + 1, XB_DIGITS)];
}

/* A network and a number that would be right as its prefix length may be just that. */
static bool detect_ipsum(const char *line)
{
	struct xb_entry entry;
	unsigned long number;

	if (!is_ipsum(line))
		return false;
	number = strtoul(strchr(line, '\t') + 1, NULL, 10);
	return number < 8 || number > 31 || !xb_ipv4_read(line, &entry) ||
	       (xb_entry_ipv4(&entry) & (UINT32_MAX >> number));
}

static int parse_ipsum(struct xb_reading *reading, char *line)
{
	struct xb_item item = {0};
	int error;

	if (!is_ipsum(line))
		return xb_input_error("'%s' is not an address, a tab and a number", XB_SHOW(line));
	line[strcspn(line, "\t")] = '\0';
	error = xb_addresses_read(reading->file, line, &item.entry);
	return error ? error : xb_line_keep(reading->file, &item);
}

const struct xb_list_format xb_ipsum_format = {"ipsum", detect_ipsum, parse_ipsum, .comments = "#;",
					       .bare = true};

/* spamhaus-json: an object a line; one of them tells about the list itself. */
static bool detect_json(const char *line)
{
	const char *key = line + 1 + (*line ? strspn(line + 1, XB_BLANKS) : 0), *value;

	if (*line != '{' || line[strlen(line) - 1] != '}')
		return false;
	if (!strncmp(key, "\"cidr\"", 6))
		return true;
	if (strncmp(key, "\"type\"", 6) != 0)
		return false;
	value = key + 6 + strspn(key + 6, XB_BLANKS ":");
	return !strncmp(value, "\"metadata\"", 10);
}

static int take_object(struct xb_listfile *file, const json_t *object)
{
	const char *type = json_string_value(json_object_get(object, "type"));
	const char *cidr = json_string_value(json_object_get(object, "cidr"));
	const char *sblid = json_string_value(json_object_get(object, "sblid"));
	struct xb_item item = {0};
	int error;

	if (type && !strcmp(type, "metadata"))
		return 0;
	if (!cidr)
		return xb_input_error("not an object with a text \"cidr\"");
	error = xb_addresses_read(file, cidr, &item.entry);
	return error ? error : xb_line_keep_with_comment(file, &item, sblid ? sblid : "");
}

static int parse_json(struct xb_reading *reading, char *line)
{
	char reason[JSON_ERROR_TEXT_LENGTH];
	json_error_t cause;
	json_t *object = json_loadb(line, strlen(line), JSON_REJECT_DUPLICATES, &cause);
	int error;

	if (!object)
		return xb_input_error("not JSON: %s", xb_utf8_show(cause.text, sizeof(reason),
								   reason, sizeof(reason)));
	error = take_object(reading->file, object);
	json_decref(object);
	return error;
}

const struct xb_list_format xb_spamhaus_json_format = {"spamhaus-json", detect_json, parse_json,
						       .comments = "#;"};
