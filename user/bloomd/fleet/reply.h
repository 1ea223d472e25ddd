/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer of the fleet's server, as bloomd-redis hands it over: checked for its form alone. */
#ifndef XB_BLOOMD_REPLY_TREE_H
#define XB_BLOOMD_REPLY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reply_kind { REPLY_NIL, REPLY_NUMBER, REPLY_STATUS, REPLY_ERROR, REPLY_STRING, REPLY_ARRAY };

/* A node. Strings are not terminated, and may have any bytes; they and the nodes are the frame's.
 */
struct server_reply {
	enum reply_kind kind;
	int64_t number;
	const char *text; /* of a status, an error or a string */
	size_t size;	  /* its bytes; or how many nodes an array has */
	const struct server_reply *node;
};

/* Whether a status, an error or a string begins with these words. */
bool reply_begins(const struct server_reply *reply, const char *words);

#endif
