/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From lines of text to the elements that Guava's funnels make. */
#include <arpa/inet.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "xdp_bloom/bloom.h"

static int not_a(const char *line, size_t size, const char *what)
{
	char shown[XB_SHOWN + 1];

	return xb_input_error(
		"'%s' is %s",
		xb_utf8_show(line, size < XB_SHOWN ? size : XB_SHOWN, shown, sizeof(shown)), what);
}

/* Decimal, perhaps behind a minus; limit: the greatest positive number. */
static bool read_number(const char *line, size_t size, uint64_t limit, uint64_t *number)
{
	bool minus = size && *line == '-';
	uint64_t sum = 0;

	if (size == minus)
		return false;
	for (size_t i = minus; i < size; i++) {
		unsigned int digit = (unsigned int)(unsigned char)line[i] - '0';

		if (digit > 9 || sum > (limit + minus - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*number = minus ? -sum : sum;
	return true;
}

static bool read_address(const char *line, size_t size, uint64_t *number)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr address;

	if (size >= sizeof(text) || memchr(line, 0, size))
		return false;
	memcpy(text, line, size);
	text[size] = '\0';
	if (inet_pton(AF_INET, text, &address) != 1)
		return false;
	*number = ntohl(address.s_addr);
	return true;
}

/* The code point in front, of so many bytes. */
static uint32_t code_point(const uint8_t *text, size_t bytes)
{
	uint32_t point = bytes == 1 ? *text : *text & (0x7fU >> bytes);

	for (size_t i = 1; i < bytes; i++)
		point = point << 6 | (text[i] & 0x3f);
	return point;
}

static uint8_t *put_unit(uint8_t *out, uint32_t unit)
{
	*out++ = (uint8_t)unit;
	*out++ = (uint8_t)(unit >> 8);
	return out;
}

static int64_t take_chars(const char *line, size_t size, uint8_t *element)
{
	uint8_t *out = element;

	for (size_t at = 0, bytes; at < size; at += bytes) {
		uint32_t point;

		bytes = xb_utf8_character(line + at, size - at);
		if (!bytes)
			return not_a(line, size, "not UTF-8");
		point = code_point((const uint8_t *)line + at, bytes);
		if (point < 0x10000) {
			out = put_unit(out, point);
		} else {
			out = put_unit(out, 0xd800 | (point - 0x10000) >> 10);
			out = put_unit(out, 0xdc00 | (point & 0x3ff));
		}
	}
	return out - element;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static int64_t take_bytes(const char *line, size_t size, uint8_t *element)
{
	for (size_t i = 0; i < size; i += 2) {
		int high = digit_of(line[i]), low = i + 1 < size ? digit_of(line[i + 1]) : -1;

		if (high < 0 || low < 0)
			return not_a(line, size, "not bytes as pairs of hexadecimal digits");
		element[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (int64_t)(size / 2);
}

static int64_t take_number(const char *line, size_t size, bool wide, uint8_t *element)
{
	uint64_t number;

	if (!read_number(line, size, wide ? INT64_MAX : INT32_MAX, &number) &&
	    (wide || !read_address(line, size, &number)))
		return not_a(line, size,
			     wide ? "not a number of 64 bits"
				  : "neither a number of 32 bits nor an IPv4 address");
	memcpy(element, &number, wide ? 8 : 4);
	return wide ? 8 : 4;
}

int64_t xb_funnel_take(enum xb_funnel funnel, const char *line, size_t size, uint8_t *element)
{
	switch (funnel) {
	case XB_FUNNEL_CHARS:
		return take_chars(line, size, element);
	case XB_FUNNEL_INTEGER:
		return take_number(line, size, false, element);
	case XB_FUNNEL_LONG:
		return take_number(line, size, true, element);
	case XB_FUNNEL_BYTES:
		return take_bytes(line, size, element);
	case XB_FUNNEL_STRING:
		break;
	}
	memcpy(element, line, size);
	return (int64_t)size;
}
