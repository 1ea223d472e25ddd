/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads requests of Postfix's socketmap, socketmap_table(5): netstrings "SIZE:NAME KEY,". They may
 * be as long as Postfix makes them; only so much is kept as a name and an entry can have.
 */
#ifndef XB_BLOOMD_SOCKETMAP_H
#define XB_BLOOMD_SOCKETMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCKETMAP_MOST 100000 /* bytes of a request, as in Postfix; more are no request */
#define SOCKETMAP_KEPT 767    /* bytes: a mail address has up to 320, in UTF-8 somewhat more */

/* What a reader found in the bytes. */
enum postfix_result {
	POSTFIX_MORE,	 /* the rest of a request has to come */
	POSTFIX_REQUEST, /* there is one */
	POSTFIX_WRONG,	 /* the bytes are no request; nothing more can be read */
};

/* Begin with all zero. */
struct socketmap {
	char text[SOCKETMAP_KEPT + 1];
	uint32_t size;	 /* that is announced */
	uint32_t at;	 /* bytes of it so far */
	uint32_t digits; /* of the size */
	bool sized;	 /* the size is complete */
};

/* Reads on, up to the end of a request. *used: bytes that were read, which need not be kept. After
 * POSTFIX_REQUEST the next call begins another one. */
enum postfix_result socketmap_read(struct socketmap *map, const char *bytes, size_t size,
				   size_t *used);

/* Splits the request: both texts end with a NUL, in `map`. A key that is too long or has a NUL in
 * it becomes "", which is no entry. */
void socketmap_split(struct socketmap *map, const char **name, const char **key);

#endif
