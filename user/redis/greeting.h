/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first request: AUTH with a password, otherwise PING, which a server of Redis answers. */
#ifndef XB_REDIS_GREETING_H
#define XB_REDIS_GREETING_H

#include "redis/replies.h"

#define GREETING_PASSWORD 1024 /* bytes */

struct greeting {
	char user[REDIS_USER_MAX]; /* "": the default one */
	char password[GREETING_PASSWORD];
	size_t size; /* of the password; 0: there is none */
};

/* Before the sandbox: reads the password. False: end says what failed, never what the file has. */
bool greeting_prepare(struct greeting *greeting, const struct redis_target *target,
		      struct redis_end *end);

/* Appends the request and forgets the password. False: no memory. */
bool greeting_send(struct greeting *greeting, struct buffer *out);

/* Whether the server lets us in. False: end says why not. */
bool greeting_judge(const struct greeting *greeting, const struct replies *answers,
		    struct redis_end *end);

#endif
