/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/tar.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

#define BLOCK	   512
#define NAME_BYTES 100
#define SIZE_AT	   124
#define SIZE_BYTES 12
#define TYPE_AT	   156
#define MAGIC_AT   257

bool xb_tar_suits(const char *bytes, size_t size)
{
	return size >= BLOCK && !memcmp(bytes + MAGIC_AT, "ustar", 5);
}

/* Octal digits; what is no such number is larger than any file. */
static uint64_t size_of(const char *head)
{
	uint64_t size = 0;
	size_t digits = 0;

	for (;
	     digits < SIZE_BYTES && head[SIZE_AT + digits] >= '0' && head[SIZE_AT + digits] <= '7';
	     digits++)
		size = size << 3 | (uint64_t)(head[SIZE_AT + digits] - '0');
	return digits ? size : UINT64_MAX;
}

/* Whether it is a plain file whose name ends so. */
static bool is_wanted(const char *head, const char *ending)
{
	size_t name = strnlen(head, NAME_BYTES), size = strlen(ending);

	return (head[TYPE_AT] == '0' || !head[TYPE_AT]) && name > size &&
	       !memcmp(head + name - size, ending, size);
}

int xb_tar_find(const char *bytes, size_t size, const char *ending, const char **file,
		size_t *file_size)
{
	*file = NULL;
	for (size_t at = 0; size - at >= BLOCK && bytes[at];) {
		const char *head = bytes + at;
		uint64_t all = size_of(head);

		at += BLOCK;
		if (!xb_tar_suits(head, BLOCK) || all > size - at)
			return xb_input_error("a damaged tar archive: it may have been cut off");
		if (is_wanted(head, ending)) {
			if (*file)
				return xb_input_error("a tar archive with several %s files: "
						      "unpack it first",
						      ending);
			*file = bytes + at;
			*file_size = (size_t)all;
		}
		all = (all + BLOCK - 1) / BLOCK * BLOCK;
		at += all < size - at ? (size_t)all : size - at;
	}
	return *file ? 0
		     : xb_input_error("a tar archive without a %s file: unpack it first", ending);
}
