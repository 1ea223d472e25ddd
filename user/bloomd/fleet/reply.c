/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/reply.h"

#include <string.h>

static bool has_text(const struct server_reply *reply)
{
	return reply->kind == REPLY_STATUS || reply->kind == REPLY_ERROR ||
	       reply->kind == REPLY_STRING;
}

bool reply_begins(const struct server_reply *reply, const char *words)
{
	size_t size = strlen(words);

	return has_text(reply) && reply->size >= size && !memcmp(reply->text, words, size);
}
