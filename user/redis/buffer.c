/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/buffer.h"

#include <stdlib.h>
#include <string.h>

#define KEPT ((size_t)1 << 20) /* bytes of room that an empty buffer keeps */

void buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

static void move_to_front(struct buffer *buffer)
{
	if (!buffer->begin || !buffer->bytes)
		return;
	memmove(buffer->bytes, buffer->bytes + buffer->begin, buffer_size(buffer));
	buffer->end -= buffer->begin;
	buffer->begin = 0;
}

uint8_t *buffer_room(struct buffer *buffer, size_t size)
{
	size_t room = buffer->room ?: 4096;
	uint8_t *bytes;

	if (buffer->bytes && buffer->room - buffer->end >= size)
		return buffer->bytes + buffer->end;
	move_to_front(buffer);
	while (room - buffer->end < size)
		room += room / 2;
	bytes = room == buffer->room ? buffer->bytes : realloc(buffer->bytes, room);
	if (!bytes)
		return NULL;
	buffer->bytes = bytes;
	buffer->room = room;
	return bytes + buffer->end;
}

bool buffer_add(struct buffer *buffer, const void *bytes, size_t size)
{
	uint8_t *room;

	/* For nothing there is room, though an empty buffer may have no bytes at all. */
	if (!size)
		return true;
	room = buffer_room(buffer, size);
	if (!room)
		return false;
	memcpy(room, bytes, size);
	buffer->end += size;
	return true;
}

void buffer_drop(struct buffer *buffer, size_t size)
{
	buffer->begin += size;
	if (buffer_size(buffer))
		return;
	buffer->begin = buffer->end = 0;
	if (buffer->room > KEPT)
		buffer_free(buffer);
}
