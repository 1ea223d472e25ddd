/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads requests of RESP2, the protocol of Redis: an array of bulk strings, or a line of words as
 * people type it. https://redis.io/docs/latest/develop/reference/protocol-spec/
 *
 * hiredis has a reader of the same form. It is not used, because it reads replies: it takes no
 * lines of words, waits for as many bytes as a length announces, copies each word, and searches a
 * line without an end anew with each piece that comes.
 */
#ifndef XB_BLOOMD_RESP_H
#define XB_BLOOMD_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESP_BYTES (1U << 20) /* of a request, at most */
#define RESP_WORDS (1U << 16)

/* A word of a request, in the buffer that was read. It ends with a NUL behind its bytes, of which
 * some may be NUL as well. */
struct resp_word {
	uint32_t at, size;
};

/* Begin with all zero. The words of all requests since then stand one after the other. */
struct resp {
	struct resp_word *word; /* owned, see resp_free() */
	size_t count, room;
	size_t at;	  /* everything before it is read */
	size_t begin;	  /* of the request that is not complete */
	size_t first;	  /* its first word */
	uint32_t missing; /* words of its array; 0: it has not begun, or is a line */
	uint32_t next;	  /* size of the next word, if it is known */
	bool sized;	  /* it is known */
};

enum resp_result {
	RESP_MORE,    /* the rest of a request has to come */
	RESP_REQUEST, /* the words from `first` to `count` are one */
	RESP_WRONG,   /* the bytes are no request, or a too large one; no other can be read */
};

/*
 * Reads on in the bytes, of which there are `size` by now; those up to `at` must be as they were
 * left. Writes NULs into them. After RESP_REQUEST, the caller calls resp_next() before it reads on.
 * *why: what is wrong, for the client.
 */
enum resp_result resp_read(struct resp *resp, char *bytes, size_t size, const char **why);
void resp_next(struct resp *resp);

/* Forgets all complete requests: moves what the present one has to the beginning. The caller has
 * done the same with its bytes, from `begin` on. */
void resp_forget(struct resp *resp);
void resp_free(struct resp *resp);

#endif
