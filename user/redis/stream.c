/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/connect.h"
#include "sandbox/beforehand.h"

bool stream_prepare(struct stream *stream, const struct redis_target *target, struct redis_end *end)
{
	*stream = (struct stream){.fd = -1,
				  .deadline = connect_clock() + target->seconds * 1000ULL,
				  .read_waits = POLLIN,
				  .write_waits = POLLOUT};
	if (target->place.tls)
		return tls_prepare(target, &stream->context, end);
	if (!*target->place.socket)
		return true;
	/* Connect now: the user nobody would not be allowed to. */
	stream->fd = beforehand_connect(target->place.socket, target->seconds);
	return stream->fd >= 0 || end_set(end, REDIS_NO_CONNECTION, "cannot connect to %s: %s",
					  target->place.socket, strerror(errno));
}

bool stream_wait(const struct stream *stream, short events, struct redis_end *end)
{
	int ready = connect_wait(stream->fd, events, stream->deadline);

	return ready > 0 || end_set(end, REDIS_TIMEOUT, "the server does not answer in time");
}

/* What OpenSSL waits for; 0: it has failed. */
static short waits_for(const SSL *tls, int result)
{
	switch (SSL_get_error(tls, result)) {
	case SSL_ERROR_WANT_READ:
		return POLLIN;
	case SSL_ERROR_WANT_WRITE:
		return POLLOUT;
	default:
		return 0;
	}
}

static bool shake_hands(struct stream *stream, struct redis_end *end)
{
	for (;;) {
		short events;
		int result;

		ERR_clear_error();
		result = SSL_connect(stream->tls);
		if (result == 1)
			return true;
		events = waits_for(stream->tls, result);
		if (!events)
			return end_set(end, REDIS_TLS, "TLS: %s", tls_error(stream->tls));
		if (!stream_wait(stream, events, end))
			return false;
	}
}

bool stream_open(struct stream *stream, const struct redis_target *target, struct redis_end *end)
{
	if (stream->fd < 0)
		stream->fd = connect_host(target, stream->deadline, end);
	if (stream->fd < 0)
		return false;
	if (!target->place.tls)
		return true;
	stream->tls = tls_begin(stream->context, target->place.host, stream->fd, end);
	return stream->tls && shake_hands(stream, end);
}

static ssize_t broke(struct redis_end *end, const char *why)
{
	end_set(end, REDIS_CLOSED, "the connection broke: %s", why);
	return STREAM_END;
}

static ssize_t closed(struct redis_end *end)
{
	end_set(end, REDIS_CLOSED, "the server closed the connection");
	return STREAM_END;
}

static ssize_t plain_result(ssize_t done, struct redis_end *end)
{
	if (done > 0)
		return done;
	if (!done)
		return closed(end);
	return errno == EAGAIN || errno == EINTR ? STREAM_WAIT : broke(end, strerror(errno));
}

static ssize_t tls_result(const struct stream *stream, int done, short *waits,
			  struct redis_end *end)
{
	if (done > 0)
		return done;
	*waits = waits_for(stream->tls, done);
	if (*waits)
		return STREAM_WAIT;
	if (SSL_get_error(stream->tls, done) == SSL_ERROR_ZERO_RETURN)
		return closed(end);
	/* TLS 1.3: the server says only now that it does not take our certificate. */
	if (SSL_get_error(stream->tls, done) == SSL_ERROR_SSL) {
		end_set(end, REDIS_TLS, "TLS: %s", tls_error(stream->tls));
		return STREAM_END;
	}
	return broke(end, errno ? strerror(errno) : "in TLS");
}

ssize_t stream_read(struct stream *stream, void *out, size_t room, struct redis_end *end)
{
	if (!stream->tls)
		return plain_result(read(stream->fd, out, room), end);
	ERR_clear_error();
	errno = 0;
	stream->read_waits = POLLIN;
	return tls_result(stream, SSL_read(stream->tls, out, (int)room), &stream->read_waits, end);
}

/* Some of it: OpenSSL counts in int. */
#define WRITE_MAX ((size_t)1 << 20)

ssize_t stream_write(struct stream *stream, const void *bytes, size_t size, struct redis_end *end)
{
	size_t some = size < WRITE_MAX ? size : WRITE_MAX;

	if (!stream->tls)
		return plain_result(send(stream->fd, bytes, some, MSG_NOSIGNAL), end);
	ERR_clear_error();
	errno = 0;
	stream->write_waits = POLLOUT;
	return tls_result(stream, SSL_write(stream->tls, bytes, (int)some), &stream->write_waits,
			  end);
}
