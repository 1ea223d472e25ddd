/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-16 (RFC 2781) as UTF-8. */
#ifndef XB_LISTS_UTF16_H
#define XB_LISTS_UTF16_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Converts as many whole characters as `in` has, into out, which has room for 3 * size / 2 bytes
 * and 3 more. A lone surrogate becomes U+FFFD. *used: the bytes taken; the rest, up to 3, is the
 * beginning of a character. Returns the bytes written.
 */
size_t xb_utf16_convert(const unsigned char *in, size_t size, bool little, size_t *used, char *out);

#endif
