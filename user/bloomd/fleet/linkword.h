/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What requests to the fleet's server are made of, and the limits of a link. */
#ifndef XB_BLOOMD_LINKWORD_H
#define XB_BLOOMD_LINKWORD_H

#include <stddef.h>

#include "redis/wire.h"

/* A word of a request: any bytes. */
struct link_word {
	const void *bytes;
	size_t size;
};

/* Of a request, as the process takes it. */
#define LINK_WORDS_MAX	 REDIS_WORDS_MAX
#define LINK_REQUEST_MAX REDIS_REQUEST_MAX /* bytes */
/* What waits to be answered, and to be sent. */
#define LINK_WAITING_MAX 1024
#define LINK_UNSENT_MAX	 ((size_t)32 << 20) /* bytes */
/* Of an answer; a larger one ends the link: bytes from the server, and nodes. */
#define LINK_REPLY_MAX REDIS_ANSWER_MAX
#define LINK_NODES_MAX REDIS_NODES_MAX

#endif
