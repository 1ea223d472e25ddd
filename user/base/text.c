/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8, a character at a time; numbers. */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes that a leading byte announces, itself included, or 0. */
static size_t announced(unsigned char lead)
{
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* Longer than need be, a surrogate, or beyond U+10FFFF: the second byte tells. */
static bool is_outside(const unsigned char *byte)
{
	return (byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xf0 && byte[1] < 0x90) ||
	       (byte[0] == 0xed && byte[1] > 0x9f) || (byte[0] == 0xf4 && byte[1] > 0x8f);
}

size_t xb_utf8_long_character(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t bytes = size ? announced(*byte) : 0;

	if (bytes > size)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	return bytes > 2 && is_outside(byte) ? 0 : bytes;
}

/* A byte order mark, blanks of no width, what turns the direction of a line: U+FEFF, U+200B to
 * U+200F, U+202A to U+202E, U+2060 to U+206F. What nobody sees misleads whoever reads it. */
static bool is_invisible(const char *text, size_t bytes)
{
	const unsigned char *byte = (const unsigned char *)text;

	if (bytes != 3)
		return false;
	if (byte[0] == 0xef)
		return byte[1] == 0xbb && byte[2] == 0xbf;
	if (byte[0] != 0xe2)
		return false;
	return byte[1] == 0x80 ? (byte[2] >= 0x8b && byte[2] <= 0x8f) ||
					 (byte[2] >= 0xaa && byte[2] <= 0xae)
			       : byte[1] == 0x81 && byte[2] >= 0xa0 && byte[2] <= 0xaf;
}

void xb_utf8_clean(char *text)
{
	size_t size = strlen(text);

	while (size) {
		size_t bytes = xb_utf8_character(text, size);

		if (!bytes || xb_utf8_is_control(text, size) || is_invisible(text, bytes)) {
			bytes = bytes ? bytes : 1;
			memset(text, '?', bytes);
		}
		text += bytes;
		size -= bytes;
	}
}

static bool goes_on(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How many of the bytes in front of a cut belong to a character that the cut would part. */
static size_t parted(const char *text, size_t cut)
{
	for (size_t back = 1; back < 4 && back <= cut && goes_on(text[cut - back + 1]); back++)
		if (announced((unsigned char)text[cut - back]) > back)
			return back;
	return 0;
}

const char *xb_utf8_show(const char *text, size_t size, char *out, size_t room)
{
	size_t length = strnlen(text, size), kept = length < room ? length : room - 1;

	if (kept < length)
		kept -= parted(text, kept);
	memcpy(out, text, kept);
	out[kept] = '\0';
	xb_utf8_clean(out);
	return out;
}

void xb_line_put(struct xb_line *line, const char *format, ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(line->text + line->used, line->room - line->used, format, arguments);
	va_end(arguments);
	line->used += more > 0 ? (size_t)more : 0;
	if (line->used >= line->room)
		line->used = line->room - 1;
}

/* C pads an exponent to two digits. */
const char *xb_number_format(double number, char out[XB_NUMBER_TEXT])
{
	char *digit;

	snprintf(out, XB_NUMBER_TEXT, "%g", number);
	digit = strchr(out, 'e');
	if (digit && digit[2] == '0')
		memmove(digit + 2, digit + 3, strlen(digit + 3) + 1);
	return out;
}

const char *xb_time_format(uint64_t seconds, char out[XB_TIME_TEXT])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!gmtime_r(&when, &parts) || !strftime(out, XB_TIME_TEXT, "%FT%TZ", &parts))
		out[0] = '\0';
	return out;
}

/* The whole number in front, and what stands behind it. */
static bool number_in_front(const char *text, uint64_t *number, const char **behind)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	*number = value;
	*behind = end;
	return *text >= '0' && *text <= '9' && !errno;
}

bool xb_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	const char *behind;
	uint64_t value;

	if (!number_in_front(text, &value, &behind) || *behind || value < least || value > most)
		return false;
	*number = value;
	return true;
}

bool xb_seconds_parse(const char *text, uint64_t least, uint64_t most, uint64_t *seconds)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
	const char *behind;
	uint64_t value;

	if (!number_in_front(text, &value, &behind))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t unit = units[i].seconds;

		if (strcmp(behind, units[i].name) != 0 || value > most / unit ||
		    value * unit < least)
			continue;
		*seconds = value * unit;
		return true;
	}
	return false;
}

bool xb_size_parse(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
	static const char units[] = "KkMmGgTt";
	double value;
	const char *unit;
	char *end;

	value = strtod(text, &end);
	/* No hexadecimal numbers, and no exponents. */
	if (*text < '0' || *text > '9' || text + strspn(text, "0123456789.") != end)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		value *= (double)(UINT64_C(1) << (10 * ((unit - units) / 2 + 1)));
	if (end[unit ? 1 : 0] || value < (double)least || value > (double)most)
		return false;
	*bytes = (uint64_t)value;
	return true;
}
