/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of Postfix that come in pieces. */
#ifndef XB_FUZZ_REQUESTS_H
#define XB_FUZZ_REQUESTS_H

#include "bloomd/postfix/socketmap.h"
#include "fuzz.h"

/* What reads requests of a protocol, and what is done with each. */
struct reader {
	enum postfix_result (*read)(void *request, const char *bytes, size_t size, size_t *used);
	void (*check)(void *request, FILE *out);
	void *request;
};

/* What was written of all requests, with a '!' behind them if one is wrong; the caller frees it. */
static inline char *read_in_pieces(const char *bytes, size_t size, size_t piece,
				   const struct reader *reader)
{
	enum postfix_result result = POSTFIX_MORE;
	size_t length, at = 0, used;
	char *text;
	FILE *out = open_memstream(&text, &length);

	must(out);
	while (at < size && result != POSTFIX_WRONG) {
		size_t there = size - at < piece ? size - at : piece;
		char *copy = malloc(there);

		must(copy);
		memcpy(copy, bytes + at, there);
		result = reader->read(reader->request, copy, there, &used);
		must(used && used <= there && (used == there || result != POSTFIX_MORE));
		free(copy);
		at += used;
		if (result == POSTFIX_REQUEST)
			reader->check(reader->request, out);
	}
	fputs(result == POSTFIX_WRONG ? "!" : "", out);
	fclose(out);
	return text;
}

#endif
