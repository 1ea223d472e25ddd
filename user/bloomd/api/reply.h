/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replies in RESP2, one after the other in a buffer. */
#ifndef XB_BLOOMD_REPLY_H
#define XB_BLOOMD_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: none. */
struct reply {
	char *bytes;
	size_t size, room;
	bool failed; /* there was no memory: what is there is incomplete */
};
void reply_free(struct reply *reply);

/* "+TEXT", "$-1", ":NUMBER" */
void reply_status(struct reply *reply, const char *text);
void reply_nil(struct reply *reply);
void reply_integer(struct reply *reply, int64_t number);

/* A bulk string of these bytes, or of this text. */
void reply_bulk(struct reply *reply, const char *bytes, size_t size);
void reply_text(struct reply *reply, const char *text);

/* Begins an array; its elements are the next `count` replies. */
void reply_array(struct reply *reply, size_t count);

/* All replies of another buffer. */
void reply_append(struct reply *reply, const struct reply *others);

/* "-TEXT". The first word is the code of the error; "ERR" if there is none better. Characters that
 * would end the line become '?'. */
__attribute__((format(printf, 2, 3))) void reply_error(struct reply *reply, const char *format,
						       ...);

#endif
