/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of an answer on its way to the descriptor that bloomd gave: gzip is decompressed here,
 * because libcurl takes a stream that was cut off for a whole one. */
#ifndef XB_FETCH_BODY_H
#define XB_FETCH_BODY_H

#include <zlib.h>

#include "fetch/wire.h"

struct body {
	int fd;
	uint64_t max;	    /* bytes that may come, and that may come out */
	uint64_t in, out;   /* bytes so far */
	uint8_t first[2];   /* they say whether it is gzip */
	bool decided, gzip; /* gzip: `stream` is valid */
	bool ended;	    /* between two members of gzip */
	z_stream stream;
	enum fetch_outcome why; /* set by what fails */
	const char *detail;
};

void body_begin(struct body *body, int fd, uint64_t max);

/* False if it is too large or wrong; `why` and `detail` say what. */
bool body_take(struct body *body, const void *data, size_t size);

/* After the last byte: whether it is whole, as far as it shows itself. */
bool body_end(struct body *body);

/* Whether the body itself shows where it ends. */
static inline bool body_shows_end(const struct body *body)
{
	return body->gzip;
}

void body_free(struct body *body);

#endif
