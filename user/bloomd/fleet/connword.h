/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What requests to the fleet's server are made of, and the limits of a conn. */
#ifndef XB_BLOOMD_CONNWORD_H
#define XB_BLOOMD_CONNWORD_H

#include <stddef.h>

#include "redis/wire.h"

/* A word of a request: any bytes. */
struct conn_word {
	const void *bytes;
	size_t size;
};

/* Of a request, as the process takes it. */
#define CONN_WORDS_MAX	 REDIS_WORDS_MAX
#define CONN_REQUEST_MAX REDIS_REQUEST_MAX /* bytes */
/* What waits to be answered, and to be sent. */
#define CONN_WAITING_MAX 1024
#define CONN_UNSENT_MAX	 ((size_t)32 << 20) /* bytes */
/* Of an answer; a larger one ends the connection: bytes from the server, and nodes. */
#define CONN_REPLY_MAX REDIS_ANSWER_MAX
#define CONN_NODES_MAX REDIS_NODES_MAX

#endif
