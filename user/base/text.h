/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that comes from elsewhere: is it UTF-8, and is it safe for a terminal? And numbers as text.
 */
#ifndef XB_BASE_TEXT_H
#define XB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As xb_utf8_character(), for a character beyond ASCII. */
size_t xb_utf8_long_character(const char *text, size_t size);

/* Bytes of the character in front, by RFC 3629; 0: there is none. */
static inline size_t xb_utf8_character(const char *text, size_t size)
{
	return size && !(*text & 0x80) ? 1 : xb_utf8_long_character(text, size);
}

/* Whether that character is a control character, of ASCII or beyond (U+0080 to U+009F). */
static inline bool xb_utf8_is_control(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;

	return size &&
	       (*byte < 0x20 || *byte == 0x7f || (*byte == 0xc2 && size > 1 && byte[1] < 0xa0));
}

/*
 * All text that goes to a terminal, into a message or into JSON and was not checked when it was
 * read goes through one of these functions. They write '?' for bytes that are no UTF-8, for control
 * characters, and for other characters that cannot be seen.
 */
void xb_utf8_clean(char *text);

/* A clean copy of the text, which ends after size bytes or with a NUL, as much of it as has room.
 * Returns out. */
const char *xb_utf8_show(const char *text, size_t size, char *out, size_t room);

/* A line that is put together: room for `room` bytes of text, the NUL included, of which `used` are
 * there. */
struct xb_line {
	char *text;
	size_t room, used;
};

/* Puts more behind it, as printf() does. What has no room is cut off. */
__attribute__((format(printf, 2, 3))) void xb_line_put(struct xb_line *line, const char *format,
						       ...);

#define XB_NUMBER_TEXT 24

/* The number as people write it: 0.001, 1e-6, 2.5. It lasts to the end of the block. */
const char *xb_number_format(double number, char out[XB_NUMBER_TEXT]);
#define XB_NUMBER(number) xb_number_format(number, (char[XB_NUMBER_TEXT]){0})

/* Whether the text is a whole number, of digits alone, from least to most; *number is it then. */
bool xb_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* The same of seconds, or a whole number with a unit: 90s, 15m, 1h, 30d, 2w. */
bool xb_seconds_parse(const char *text, uint64_t least, uint64_t most, uint64_t *seconds);

/* The same of bytes, or a number, with a point or without, of KiB, MiB, GiB or TiB: 512M, 1.5g. */
bool xb_size_parse(const char *text, uint64_t least, uint64_t most, uint64_t *bytes);

#define XB_TIME_TEXT 32

/* Seconds since 1970 as 2026-11-28T09:00:00Z. Returns out. */
const char *xb_time_format(uint64_t seconds, char out[XB_TIME_TEXT]);

#define XB_SHOWN 40 /* bytes of a word in a message */

/* The beginning of a text that ends with a NUL, as a message may have it; it lasts to the end of
 * the block. */
#define XB_SHOW(text) xb_utf8_show(text, XB_SHOWN + 1, (char[XB_SHOWN + 1]){0}, XB_SHOWN + 1)

#endif
