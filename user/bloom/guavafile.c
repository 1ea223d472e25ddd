/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BloomFilter.writeTo() and readFrom() of Guava 11 to 33. */
#include <string.h>

#include "bloom/filterfile.h"

void xb_guava_header_write(const struct xb_filter_info *info, uint8_t header[XB_GUAVA_HEADER])
{
	uint32_t words = __builtin_bswap32((uint32_t)xb_filter_words(info->bits));

	header[0] = info->kind == XB_FILTER_GUAVA_64;
	header[1] = (uint8_t)info->hashes;
	memcpy(header + 2, &words, sizeof(words));
}

bool xb_guava_header_read(const uint8_t *bytes, size_t size, struct xb_filter_info *info)
{
	uint32_t words;

	if (size < XB_GUAVA_HEADER || bytes[0] > 1 || !bytes[1])
		return false;
	memcpy(&words, bytes + 2, sizeof(words));
	words = __builtin_bswap32(words);
	if (!words || words > XB_GUAVA_WORDS_MAX)
		return false;
	info->kind = bytes[0] ? XB_FILTER_GUAVA_64 : XB_FILTER_GUAVA_32;
	info->hashes = bytes[1];
	info->bits = (uint64_t)words * 64;
	return true;
}
