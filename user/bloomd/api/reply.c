/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define NUMBER 32 /* bytes: a type, a number and the end of a line */

void reply_free(struct reply *reply)
{
	free(reply->bytes);
	*reply = (struct reply){0};
}

/* Where the next `size` bytes go; NULL: there is no memory. */
static char *room_for(struct reply *reply, size_t size)
{
	if (xb_array_grow(&reply->bytes, &reply->room, reply->size + size, 1)) {
		reply->failed = true;
		return NULL;
	}
	return reply->bytes + reply->size;
}

static void append(struct reply *reply, const char *bytes, size_t size)
{
	char *place = room_for(reply, size);

	if (!place)
		return;
	memcpy(place, bytes, size);
	reply->size += size;
}

static void append_number(struct reply *reply, char type, int64_t number)
{
	char *place = room_for(reply, NUMBER), digits[NUMBER];
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
	size_t first = sizeof(digits), size;

	if (!place)
		return;
	digits[--first] = '\n';
	digits[--first] = '\r';
	do
		digits[--first] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		digits[--first] = '-';
	digits[--first] = type;
	size = sizeof(digits) - first;
	memcpy(place, digits + first, size);
	reply->size += size;
}

void reply_status(struct reply *reply, const char *text)
{
	append(reply, "+", 1);
	append(reply, text, strlen(text));
	append(reply, "\r\n", 2);
}

void reply_nil(struct reply *reply)
{
	append(reply, "$-1\r\n", 5);
}

void reply_integer(struct reply *reply, int64_t number)
{
	append_number(reply, ':', number);
}

void reply_bulk(struct reply *reply, const char *bytes, size_t size)
{
	append_number(reply, '$', (int64_t)size);
	append(reply, bytes, size);
	append(reply, "\r\n", 2);
}

void reply_text(struct reply *reply, const char *text)
{
	reply_bulk(reply, text, strlen(text));
}

void reply_array(struct reply *reply, size_t count)
{
	append_number(reply, '*', (int64_t)count);
}

void reply_append(struct reply *reply, const struct reply *others)
{
	reply->failed |= others->failed;
	if (others->size)
		append(reply, others->bytes, others->size);
}

void reply_error(struct reply *reply, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	xb_utf8_clean(text);
	append(reply, "-", 1);
	append(reply, text, strlen(text));
	append(reply, "\r\n", 2);
}
