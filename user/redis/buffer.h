/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that wait to be sent or to be understood. */
#ifndef XB_REDIS_BUFFER_H
#define XB_REDIS_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zero: none. */
struct buffer {
	uint8_t *bytes;
	size_t begin, end, room; /* they are from begin to end */
};
void buffer_free(struct buffer *buffer);

static inline size_t buffer_size(const struct buffer *buffer)
{
	return buffer->end - buffer->begin;
}

/* NULL, perhaps, of an empty one. */
static inline uint8_t *buffer_at(const struct buffer *buffer)
{
	return buffer->bytes ? buffer->bytes + buffer->begin : NULL;
}

/* The first ones, which stay; false: there are fewer. */
static inline bool buffer_peek(const struct buffer *buffer, void *bytes, size_t size)
{
	if (!buffer->bytes || buffer_size(buffer) < size)
		return false;
	memcpy(bytes, buffer->bytes + buffer->begin, size);
	return true;
}

/* Room for so many more bytes, which the caller fills and adds to end. NULL: no memory. */
uint8_t *buffer_room(struct buffer *buffer, size_t size);

/* False: no memory. */
bool buffer_add(struct buffer *buffer, const void *bytes, size_t size);

/* Takes them out in front; an empty buffer gives much memory back. */
void buffer_drop(struct buffer *buffer, size_t size);

#endif
