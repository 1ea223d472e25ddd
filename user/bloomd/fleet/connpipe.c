/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/connpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomd/base/helper.h"

#define CHUNK ((size_t)256 << 10) /* bytes of a read */
#define KEPT  ((size_t)1 << 20)	  /* bytes of room that stay when nothing waits */

static int make_target(const struct redis_target *target)
{
	int fd = helper_file("target");

	if (fd < 0 || pwrite(fd, target, sizeof(*target), 0) == sizeof(*target))
		return fd;
	close(fd);
	return xb_system_error(errno, "cannot write a request");
}

/* The other end waits: only ours must not. */
static int make_pair(int pair[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return xb_system_error(errno, "cannot make a pair of sockets");
	return fcntl(pair[0], F_SETFL, O_NONBLOCK)
		       ? xb_system_error(errno, "cannot set up a pair of sockets")
		       : 0;
}

static int start(struct connpipe *pipe, const struct redis_target *target, int other)
{
	struct helper helper = {
		.name = HELPER_REDIS, .files = {make_target(target), other}, .count = 2};
	pid_t child = helper.files[0] < 0 ? helper.files[0] : helper_start(&helper);

	if (helper.files[0] >= 0)
		close(helper.files[0]);
	pipe->child = child > 0 ? child : 0;
	return child < 0 ? child : 0;
}

int connpipe_open(struct connpipe *pipe, const struct redis_target *target)
{
	int pair[2] = {-1, -1}, error = make_pair(pair);

	*pipe = (struct connpipe){.fd = pair[0]};
	if (!error)
		error = start(pipe, target, pair[1]);
	if (pair[1] >= 0)
		close(pair[1]);
	return error;
}

/* One that ends by itself keeps the status that it has chosen. */
int connpipe_close(struct connpipe *pipe)
{
	int status = 0;

	if (pipe->child > 0) {
		kill(pipe->child, SIGKILL);
		waitpid(pipe->child, &status, 0);
	}
	if (pipe->fd >= 0)
		close(pipe->fd);
	free(pipe->in);
	free(pipe->out);
	*pipe = (struct connpipe){.fd = -1};
	return status;
}

static uint8_t *put(uint8_t *out, const void *bytes, size_t size)
{
	if (size)
		memcpy(out, bytes, size);
	return out + size;
}

static uint8_t *put_size(uint8_t *out, size_t size)
{
	uint32_t number = (uint32_t)size;

	return put(out, &number, sizeof(number));
}

/* Returns an error if they are beyond the limits. */
static int measure(const struct connpipe *pipe, const struct conn_word *words, size_t count,
		   size_t *size)
{
	*size = 0;
	if (!count || count > CONN_WORDS_MAX)
		return xb_system_error(0, "a request of %zu words for the fleet's server", count);
	for (size_t i = 0; i < count; i++) {
		if (words[i].size > CONN_REQUEST_MAX - *size)
			return xb_system_error(0, "a request too large for the fleet's server");
		*size += words[i].size;
	}
	*size += count * sizeof(uint32_t);
	if (*size > REDIS_REQUEST_MAX)
		return xb_system_error(0, "a request too large for the fleet's server");
	if (pipe->out_end - pipe->out_begin + *size > CONN_UNSENT_MAX)
		return xb_system_error(0, "too much waits for the fleet's server");
	return 0;
}

static void move_to_front(struct connpipe *pipe)
{
	if (!pipe->out_begin)
		return;
	pipe->out_end -= pipe->out_begin;
	memmove(pipe->out, pipe->out + pipe->out_begin, pipe->out_end);
	pipe->out_begin = 0;
}

int connpipe_add(struct connpipe *pipe, const struct conn_word *words, size_t count)
{
	size_t size;
	uint8_t *out;
	int error = measure(pipe, words, count, &size);

	if (error)
		return error;
	move_to_front(pipe);
	error = xb_array_grow(&pipe->out, &pipe->out_room, pipe->out_end + sizeof(uint32_t) + size,
			      1);
	if (error)
		return error;
	out = put_size(pipe->out + pipe->out_end, size);
	for (size_t i = 0; i < count; i++)
		out = put(put_size(out, words[i].size), words[i].bytes, words[i].size);
	pipe->out_end += sizeof(uint32_t) + size;
	return 0;
}

/* Much memory is given back when nothing waits. */
static void empty(uint8_t **bytes, size_t *room)
{
	if (*room <= KEPT)
		return;
	free(*bytes);
	*bytes = NULL;
	*room = 0;
}

void connpipe_send(struct connpipe *pipe)
{
	while (connpipe_has_unsent(pipe)) {
		ssize_t done = send(pipe->fd, pipe->out + pipe->out_begin,
				    pipe->out_end - pipe->out_begin, MSG_NOSIGNAL);

		/* That the process is gone is seen when it is read. */
		if (done < 0)
			return;
		pipe->out_begin += (size_t)done;
	}
	pipe->out_begin = pipe->out_end = 0;
	empty(&pipe->out, &pipe->out_room);
}

int connpipe_read(struct connpipe *pipe)
{
	int error = xb_array_grow(&pipe->in, &pipe->in_room, pipe->in_size + CHUNK, 1);
	ssize_t got;

	if (error)
		return error;
	got = recv(pipe->fd, pipe->in + pipe->in_size, CHUNK, 0);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return 0; /* it has ended, with requests unread */
	pipe->in_size += got > 0 ? (size_t)got : 0;
	return got != 0;
}

int connpipe_next(const struct connpipe *pipe, size_t *used, struct connframe *frame)
{
	const uint8_t *bytes = pipe->in + *used;
	size_t left = pipe->in_size - *used;
	uint32_t head[2];

	if (left < sizeof(head))
		return 0;
	memcpy(head, bytes, sizeof(head));
	if (head[0] < sizeof(head[1]) || head[0] > REDIS_FRAME_MAX)
		return -1;
	if (left - sizeof(head[0]) < head[0])
		return 0;
	*frame = (struct connframe){.kind = head[1],
				    .content = bytes + sizeof(head),
				    .size = head[0] - sizeof(head[1])};
	*used += sizeof(head[0]) + head[0];
	return 1;
}

void connpipe_drop(struct connpipe *pipe, size_t used)
{
	pipe->in_size -= used;
	if (pipe->in_size && used)
		memmove(pipe->in, pipe->in + used, pipe->in_size);
	if (!pipe->in_size)
		empty(&pipe->in, &pipe->in_room);
}
