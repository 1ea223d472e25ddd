/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/requests.h"

#include <hiredis/hiredis.h>
#include <string.h>

bool requests_add(struct buffer *out, size_t count, const char **words, const size_t *sizes)
{
	char *text = NULL;
	long long size = redisFormatCommandArgv(&text, (int)count, words, sizes);
	bool added = size > 0 && buffer_add(out, text, (size_t)size);

	if (size > 0)
		redisFreeCommand(text);
	return added;
}

/* A number, and what is left behind it. */
static bool take_size(const uint8_t **bytes, size_t *left, uint32_t *size)
{
	if (*left < sizeof(*size))
		return false;
	memcpy(size, *bytes, sizeof(*size));
	*bytes += sizeof(*size);
	*left -= sizeof(*size);
	return *size <= *left;
}

static bool add_frame(const uint8_t *bytes, size_t left, struct buffer *out)
{
	const char *words[REDIS_WORDS_MAX];
	size_t sizes[REDIS_WORDS_MAX], count = 0;

	while (left) {
		uint32_t size;

		if (count == REDIS_WORDS_MAX || !take_size(&bytes, &left, &size))
			return false;
		words[count] = (const char *)bytes;
		sizes[count++] = size;
		bytes += size;
		left -= size;
	}
	return count && requests_add(out, count, words, sizes);
}

bool requests_take(struct buffer *in, struct buffer *out, size_t *count, struct redis_end *end)
{
	uint32_t size;

	while (buffer_peek(in, &size, sizeof(size))) {
		if (size > REDIS_REQUEST_MAX)
			return end_set(end, REDIS_FAILED, "bloomd sent a request too large");
		if (buffer_size(in) - sizeof(size) < size)
			return true;
		if (!add_frame(buffer_at(in) + sizeof(size), size, out))
			return end_set(end, REDIS_FAILED, "cannot send a request of bloomd");
		buffer_drop(in, sizeof(size) + size);
		++*count;
	}
	return true;
}
