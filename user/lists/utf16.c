/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/utf16.h"

#include <stdint.h>

#define REPLACEMENT 0xfffd

static uint32_t unit_at(const unsigned char *in, bool little)
{
	return little ? in[0] | (uint32_t)in[1] << 8 : in[1] | (uint32_t)in[0] << 8;
}

static bool is_first(uint32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_second(uint32_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* The next character; *bytes: how many it has, 0: not all of them are there. */
static uint32_t next(const unsigned char *in, size_t size, bool little, size_t *bytes)
{
	uint32_t unit = size < 2 ? 0 : unit_at(in, little), second;

	*bytes = size < 2 ? 0 : 2;
	if (!*bytes || (!is_first(unit) && !is_second(unit)))
		return unit;
	if (is_second(unit))
		return REPLACEMENT;
	if (size < 4) {
		*bytes = 0;
		return unit;
	}
	second = unit_at(in + 2, little);
	if (!is_second(second))
		return REPLACEMENT;
	*bytes = 4;
	return 0x10000 + ((unit & 0x3ff) << 10) + (second & 0x3ff);
}

static size_t put(uint32_t character, char *out)
{
	size_t more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

	out[0] = (char)(lead[more] | character >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
	return more + 1;
}

size_t xb_utf16_convert(const unsigned char *in, size_t size, bool little, size_t *used, char *out)
{
	size_t written = 0, bytes;

	for (*used = 0;; *used += bytes) {
		uint32_t character = next(in + *used, size - *used, little, &bytes);

		if (!bytes)
			return written;
		written += put(character, out + written);
	}
}
