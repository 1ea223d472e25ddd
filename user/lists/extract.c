/* SPDX-License-Identifier: GPL-2.0-or-later */
/* extract: every address that stands alone in a text, whatever else the text says. It has to be
 * asked for. */
#include <ctype.h>
#include <stdio.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

#define HEX_CHARS XB_DIGITS "abcdefABCDEF"

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte & 0x80;
}

/* Whether a word, or a number with more parts, begins in front or goes on behind. */
static bool goes_on(const char *end)
{
	return is_word(*end) || ((*end == '.' || *end == '-') && is_word(end[1]) &&
				 !(*end == '-' && isdigit((unsigned char)end[1])));
}

static bool begins(const char *text, const char *at)
{
	if (at == text)
		return true;
	if (is_word(at[-1]) || at[-1] == '.')
		return false;
	return at[-1] != '-' || at - 1 == text || !isalpha((unsigned char)at[-2]);
}

/* Behind the address: a prefix length, if there is one that can be. *length: -1 without one. NULL:
 * this is no address, but part of something else. */
static const char *read_length(const char *end, int most, int *length)
{
	size_t digits = *end == '/' ? strspn(end + 1, XB_DIGITS) : 0;
	unsigned long value = digits ? strtoul(end + 1, NULL, 10) : 0;

	*length = -1;
	if (!digits)
		return end;
	if (digits > 3 || value > (unsigned long)most || goes_on(end + 1 + digits) ||
	    end[1 + digits] == '/')
		return NULL;
	*length = (int)value;
	return end + 1 + digits;
}

static int keep(struct xb_reading *reading, const char *start, size_t size, int length)
{
	char text[XB_ENTRY_TEXT];
	struct xb_item item = {0};
	int error;

	if (length < 0)
		snprintf(text, sizeof(text), "%.*s", (int)size, start);
	else
		snprintf(text, sizeof(text), "%.*s/%d", (int)size, start, length);
	error = xb_line_address(reading->file, text, &item.entry);
	return error ? error : xb_line_keep(reading->file, &item);
}

/* Looks for an address at this place. Returns where to go on; `at` itself: there is none. */
static const char *take_ipv4(struct xb_reading *reading, const char *at, int *error)
{
	struct xb_entry entry;
	const char *end = xb_ipv4_read(at, &entry), *behind;
	int length;

	if (!end || goes_on(end))
		return at;
	behind = read_length(end, 32, &length);
	if (!behind)
		return at;
	*error = keep(reading, at, (size_t)(end - at), length);
	return behind;
}

/* A time of day, or `::` between names, is no address. */
static bool is_ipv6(const char *text, size_t size)
{
	struct xb_entry entry;
	size_t colons = 0, digits = 0;

	for (size_t i = 0; i < size; i++) {
		colons += text[i] == ':';
		digits += isdigit((unsigned char)text[i]) != 0;
	}
	if (colons < 2 || !digits || size > 45)
		return false;
	if (!xb_entry_parse(text, size, NULL, &entry, NULL))
		return true;
	xb_error_clear();
	return false;
}

static const char *take_ipv6(struct xb_reading *reading, const char *at, int *error)
{
	size_t size = strspn(at, HEX_CHARS ":.");
	const char *behind;
	int length;

	while (size &&
	       (at[size - 1] == '.' || (at[size - 1] == ':' && (size < 2 || at[size - 2] != ':'))))
		size--;
	if (is_word(at[size]) || !is_ipv6(at, size))
		return at;
	behind = read_length(at + size, 128, &length);
	if (!behind)
		return at;
	*error = keep(reading, at, size, length);
	return behind;
}

static int extract(struct xb_reading *reading, char *text, size_t size)
{
	const char *at = text, *end = text + size;
	int error = 0;

	reading->file->lines = reading->text_line;
	while (!error && at < end) {
		const char *next = at;

		if ((isxdigit((unsigned char)*at) || *at == ':') && begins(text, at) &&
		    (at == text || at[-1] != ':'))
			next = take_ipv6(reading, at, &error);
		if (next == at && isdigit((unsigned char)*at) && begins(text, at))
			next = take_ipv4(reading, at, &error);
		reading->file->lines += *at == '\n';
		at = next == at ? at + 1 : next;
	}
	return error;
}

const struct xb_list_format xb_extract_format = {"extract", NULL, NULL, .comments = "",
						 .document = extract};
