/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/relay.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/connect.h"
#include "redis/requests.h"

#define CHUNK	   65536
#define UNSENT_MAX ((size_t)16 << 20) /* bytes; with more, bloomd waits */

struct relay {
	struct stream *stream;
	struct greeting *greeting;
	struct redis_end *end;
	struct replies answers;
	struct buffer requests, unsent; /* of bloomd; for the server */
	size_t asked;			/* requests without an answer */
	bool ready;			/* it is greeted */
	bool alone;			/* bloomd is gone */
};

bool relay_tell(struct iovec *parts, int count)
{
	while (count) {
		ssize_t done = writev(REDIS_FRAMES_FD, parts, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		while (count && (size_t)done >= parts->iov_len) {
			done -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
	return true;
}

static bool leave(struct relay *relay)
{
	relay->alone = true;
	return false;
}

static bool greet(struct relay *relay)
{
	uint32_t frame[2] = {sizeof(uint32_t), REDIS_READY};

	if (!greeting_judge(relay->greeting, &relay->answers, relay->end))
		return false;
	relay->ready = true;
	return relay_tell(&(struct iovec){frame, sizeof(frame)}, 1) || leave(relay);
}

static bool hand_over(struct relay *relay)
{
	struct iovec parts[ANSWERS_PARTS];
	struct replies_head head;

	if (!relay->ready)
		return greet(relay);
	if (!relay->asked)
		return end_set(relay->end, REDIS_PROTOCOL,
			       "the server sent an answer without a request");
	relay->asked--;
	replies_frame(&relay->answers, &head, parts);
	return relay_tell(parts, ANSWERS_PARTS) || leave(relay);
}

static bool take_answers(struct relay *relay, const uint8_t *bytes, size_t size)
{
	int got;

	if (!replies_feed(&relay->answers, bytes, size, relay->end))
		return false;
	while ((got = replies_next(&relay->answers, relay->end)) > 0)
		if (!hand_over(relay))
			return false;
	return !got;
}

/* All that there is: OpenSSL may have bytes of which poll() knows nothing. */
static bool read_server(struct relay *relay)
{
	uint8_t bytes[CHUNK];
	ssize_t got;

	while ((got = stream_read(relay->stream, bytes, sizeof(bytes), relay->end)) > 0)
		if (!take_answers(relay, bytes, (size_t)got))
			return false;
	return got == STREAM_WAIT;
}

static bool write_server(struct relay *relay)
{
	struct buffer *unsent = &relay->unsent;

	while (buffer_size(unsent)) {
		ssize_t done = stream_write(relay->stream, buffer_at(unsent), buffer_size(unsent),
					    relay->end);

		if (done < 0)
			return done == STREAM_WAIT;
		buffer_drop(unsent, (size_t)done);
	}
	return true;
}

static bool read_bloomd(struct relay *relay)
{
	uint8_t *room = buffer_room(&relay->requests, CHUNK);
	ssize_t got = room ? recv(REDIS_FRAMES_FD, room, CHUNK, MSG_DONTWAIT) : 0;

	if (!room)
		return end_set(relay->end, REDIS_FAILED, "no memory for a request");
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0)
		return leave(relay);
	relay->requests.end += (size_t)got;
	return requests_take(&relay->requests, &relay->unsent, &relay->asked, relay->end);
}

/* Milliseconds until the greeting has to be over; -1: it is. */
static int patience(const struct relay *relay)
{
	uint64_t now = connect_clock(), deadline = relay->stream->deadline;

	if (relay->ready)
		return -1;
	return deadline > now ? (int)(deadline - now) : 0;
}

/* Waits for one of the two, and does what can be done. False: it is over. */
static bool turn(struct relay *relay)
{
	const struct stream *stream = relay->stream;
	bool writes = buffer_size(&relay->unsent);
	bool listens = relay->ready && buffer_size(&relay->unsent) < UNSENT_MAX;
	struct pollfd ready[2] = {
		{.fd = stream->fd,
		 .events = (short)(stream->read_waits | (writes ? stream->write_waits : 0))},
		{.fd = REDIS_FRAMES_FD, .events = listens ? POLLIN : 0}};
	int count = poll(ready, 2, patience(relay));

	if (!count)
		return end_set(relay->end, REDIS_TIMEOUT, "the server does not answer in time");
	if (count < 0)
		return errno == EINTR || end_set(relay->end, REDIS_FAILED, "cannot wait");
	if (ready[1].revents && !(listens ? read_bloomd(relay) : leave(relay)))
		return false;
	if (ready[0].revents && !read_server(relay))
		return false;
	return write_server(relay);
}

bool relay_run(struct stream *stream, struct greeting *greeting, struct redis_end *end)
{
	struct relay relay = {.stream = stream, .greeting = greeting, .end = end};

	if (replies_begin(&relay.answers) && greeting_send(greeting, &relay.unsent))
		while (turn(&relay))
			;
	else
		end_set(end, REDIS_FAILED, "out of memory");
	replies_free(&relay.answers);
	buffer_free(&relay.requests);
	buffer_free(&relay.unsent);
	return relay.alone;
}
