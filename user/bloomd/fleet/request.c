/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/fleet.h"

void request_bytes(struct request *request, const void *bytes, size_t size)
{
	request->word[request->count++] = (struct conn_word){bytes, size};
}

void request_word(struct request *request, const char *format, ...)
{
	char *text = request->text[request->count];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, REQUEST_TEXT, format, arguments);
	va_end(arguments);
	request_bytes(request, text, strlen(text));
}

void request_words(struct request *request, const char *format, ...)
{
	char text[REQUEST_WORDS * REQUEST_TEXT], *rest = NULL;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		request_word(request, "%s", word);
}

int request_send(const struct request *request, struct conn *conn, uint32_t seconds,
		 conn_answered *answered, void *context)
{
	return conn_ask(conn, request->word, request->count, seconds, answered, context);
}

/* Digits alone. */
static bool read_number(const char *text, uint64_t *number)
{
	if (!*text || text[strspn(text, "0123456789")])
		return false;
	*number = strtoull(text, NULL, 10);
	return true;
}

/* "17-0" is what hosts give; others can give "17-3", or numbers up to 2^64 - 1. */
static bool read_id(const struct server_reply *node, struct stream_entry *entry)
{
	uint64_t number, part;
	char text[48], *dash;

	if (node->kind != REPLY_STRING || node->size >= sizeof(text))
		return false;
	memcpy(text, node->text, node->size);
	text[node->size] = '\0';
	dash = strchr(text, '-');
	if (!dash)
		return false;
	*dash = '\0';
	if (!read_number(text, &number) || !read_number(dash + 1, &part))
		return false;
	entry->position =
		part || !number || number > XB_FLEET_POSITION_MAX ? STREAM_NOWHERE : number;
	entry->before = part || !number ? number : number - 1;
	return true;
}

static void read_fields(const struct server_reply *fields, struct stream_entry *entry)
{
	bool ours = fields->size == 2 && fields->node[0].kind == REPLY_STRING &&
		    fields->node[0].size == 1 && *fields->node[0].text == 'e' &&
		    fields->node[1].kind == REPLY_STRING;

	entry->bytes = ours ? fields->node[1].text : NULL;
	entry->size = ours ? fields->node[1].size : 0;
}

bool stream_entry_read(const struct server_reply *node, struct stream_entry *entry)
{
	if (node->kind != REPLY_ARRAY || node->size != 2 || !read_id(&node->node[0], entry) ||
	    node->node[1].kind != REPLY_ARRAY)
		return false;
	read_fields(&node->node[1], entry);
	return true;
}

bool stream_is_entries(const struct server_reply *reply)
{
	struct stream_entry entry;

	if (reply->kind != REPLY_ARRAY)
		return false;
	for (size_t i = 0; i < reply->size; i++)
		if (!stream_entry_read(&reply->node[i], &entry))
			return false;
	return true;
}

const char *id_format(const uint8_t id[16], char text[ID_TEXT])
{
	for (size_t i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	return text;
}
