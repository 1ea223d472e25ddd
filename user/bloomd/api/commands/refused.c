/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients of Redis are likely to try, and should do instead. */
#include "bloomd/api/commands/families.h"

#define TRANSACTION                                                                                \
	"requests that are sent without waiting for answers are one transaction (in redis-py: "    \
	"pipeline(transaction=False))"
#define BY_HAND "a whole list is emptied or replaced by hand"

const struct command commands_refused[] = {
	{"multi", -1, COMMAND_REFUSED, .about = TRANSACTION},
	{"exec", -1, COMMAND_REFUSED, .about = TRANSACTION},
	{"watch", -1, COMMAND_REFUSED, .about = TRANSACTION},
	{"smembers", -1, COMMAND_REFUSED, .about = "lists can be long; use SSCAN"},
	{"hgetall", -1, COMMAND_REFUSED, .about = "lists can be long; use SSCAN"},
	{"del", -1, COMMAND_REFUSED, .about = BY_HAND},
	{"unlink", -1, COMMAND_REFUSED, .about = BY_HAND},
	{"flushall", -1, COMMAND_REFUSED, .about = BY_HAND},
	{"flushdb", -1, COMMAND_REFUSED, .about = BY_HAND},
	{"expire", -1, COMMAND_REFUSED, .about = "entries expire, not lists; use ZADD"},
	{"hset", -1, COMMAND_REFUSED, .about = "use SADD, or ZADD with the time of expiry"},
	{0},
};
