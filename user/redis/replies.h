/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's answers in RESP2, read by hiredis and kept in the flat form of redis/wire.h. */
#ifndef XB_REDIS_REPLIES_H
#define XB_REDIS_REPLIES_H

#include <sys/uio.h>

#include "redis/buffer.h"
#include "redis/end.h"

struct redisReader;

/* Of the answer that comes in; all zero before replies_begin(). */
struct replies {
	struct redisReader *reader;
	struct buffer nodes, texts;
	uint32_t count;	    /* of nodes */
	uint32_t announced; /* nodes that arrays promise */
	bool whole;	    /* it is all there */
	size_t taken;	    /* bytes of the server since the last answer */
	const char *excess; /* what it is beyond, and which outcome that is; NULL: nothing */
	enum redis_outcome outcome;
};

/* False: no memory. */
bool replies_begin(struct replies *answers);
void replies_free(struct replies *answers);

/* Takes bytes of the server. False: end says what is wrong with them. */
bool replies_feed(struct replies *answers, const void *bytes, size_t size, struct redis_end *end);

/* Returns 1: there is a whole answer, in nodes and texts, until the next call; 0: bytes are
 * missing; -1: end says what is wrong. */
int replies_next(struct replies *answers, struct redis_end *end);

/* The first node, of a whole answer, and its text. */
const struct redis_node *replies_first(const struct replies *answers, const char **text);

#define ANSWERS_PARTS 3

/* The present answer as a frame, head being the first part of it. Nothing is copied: large answers
 * would be in memory once more. */
struct replies_head {
	uint32_t size, kind;
	struct redis_answer answer;
};
void replies_frame(const struct replies *answers, struct replies_head *head,
		   struct iovec parts[ANSWERS_PARTS]);

#endif
