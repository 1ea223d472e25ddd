/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RFC 1952: a body of gzip is one member or several, each with a check of its content behind it. */
#include "fetch/body.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK	   65536
#define GZIP_ONLY  (16 + MAX_WBITS)
#define IS_GZIP(b) ((b)[0] == 0x1f && (b)[1] == 0x8b)

void body_begin(struct body *body, int fd, uint64_t max)
{
	*body = (struct body){.fd = fd, .max = max};
}

void body_free(struct body *body)
{
	if (body->gzip)
		inflateEnd(&body->stream);
	body->gzip = false;
}

static bool fail(struct body *body, enum fetch_outcome why, const char *detail)
{
	body->why = why;
	body->detail = detail;
	return false;
}

static bool put(struct body *body, const uint8_t *data, size_t size)
{
	if (size > body->max - body->out)
		return fail(body, FETCH_TOO_LARGE, "the body is larger than max-bytes");
	body->out += size;
	while (size) {
		ssize_t done = write(body->fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return fail(body, FETCH_FAILED, "cannot keep the body");
		data += done;
		size -= (size_t)done;
	}
	return true;
}

static bool inflate_some(struct body *body)
{
	uint8_t out[CHUNK];
	int code;

	body->stream.next_out = out;
	body->stream.avail_out = sizeof(out);
	code = inflate(&body->stream, Z_NO_FLUSH);
	if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
		return fail(body, FETCH_CORRUPT, "the gzip stream is damaged");
	body->ended = code == Z_STREAM_END;
	return put(body, out, sizeof(out) - body->stream.avail_out);
}

static bool unpack(struct body *body, const uint8_t *data, size_t size)
{
	body->stream.next_in = (uint8_t *)(uintptr_t)data;
	body->stream.avail_in = (uInt)size;
	do {
		if (body->ended && body->stream.avail_in) {
			if (inflateReset2(&body->stream, GZIP_ONLY) != Z_OK)
				return fail(body, FETCH_FAILED, "out of memory");
			body->ended = false;
		}
		if (!inflate_some(body))
			return false;
	} while (body->stream.avail_in || (!body->ended && !body->stream.avail_out));
	return true;
}

static bool decide(struct body *body)
{
	body->decided = true;
	if (!IS_GZIP(body->first))
		return true;
	if (inflateInit2(&body->stream, GZIP_ONLY) != Z_OK)
		return fail(body, FETCH_FAILED, "out of memory");
	return body->gzip = true;
}

static bool pass(struct body *body, const uint8_t *data, size_t size)
{
	return body->gzip ? unpack(body, data, size) : put(body, data, size);
}

bool body_take(struct body *body, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	if (size > body->max - body->in)
		return fail(body, FETCH_TOO_LARGE, "the body is larger than max-bytes");
	while (!body->decided && size) {
		body->first[body->in++] = *bytes++;
		size--;
		if (body->in == sizeof(body->first) &&
		    (!decide(body) || !pass(body, body->first, sizeof(body->first))))
			return false;
	}
	body->in += size;
	return !size || pass(body, bytes, size);
}

bool body_end(struct body *body)
{
	if (!body->decided && body->in && !put(body, body->first, (size_t)body->in))
		return false;
	if (body->gzip && !body->ended)
		return fail(body, FETCH_TRUNCATED, "the gzip stream ends early");
	return true;
}
