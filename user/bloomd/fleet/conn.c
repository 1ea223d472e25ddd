/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/wait.h>

#include "base/error.h"
#include "bloomd/fleet/connpipe.h"
#include "bloomd/fleet/connurl.h"
#include "bloomd/fleet/replyframe.h"

#define SECOND 1000000ULL /* us */
#define GRACE  2	  /* seconds for the process to say itself that its time is over */

struct request {
	STAILQ_ENTRY(request) next;
	uint64_t deadline; /* agent_clock() */
	conn_answered *answered;
	void *context;
};

struct conn {
	struct connpipe pipe;
	struct agent *agent;
	conn_ready *ready;
	conn_lost *lost;
	void *context;
	uint32_t seconds;
	uint64_t deadline; /* until it is ready */
	bool is_ready, over;
	bool busy, closed; /* in an event of the loop; closed meanwhile, and freed behind it */
	sd_event_source *io, *timer;
	STAILQ_HEAD(requests, request) requests;
	size_t waiting;
};

size_t conn_waiting(const struct conn *conn)
{
	return conn->waiting;
}

static struct request *take_request(struct conn *conn)
{
	struct request *request = STAILQ_FIRST(&conn->requests);

	if (request) {
		STAILQ_REMOVE_HEAD(&conn->requests, next);
		conn->waiting--;
	}
	return request;
}

/* Returns the status of the process. */
static int stop(struct conn *conn)
{
	struct request *request;

	sd_event_source_disable_unref(conn->io);
	sd_event_source_disable_unref(conn->timer);
	conn->io = conn->timer = NULL;
	while ((request = take_request(conn)))
		free(request);
	return connpipe_close(&conn->pipe);
}

void conn_close(struct conn *conn)
{
	if (!conn)
		return;
	stop(conn);
	conn->closed = true;
	if (!conn->busy)
		free(conn);
}

/* Always behind everything else: the connection may be closed from there. */
static void end(struct conn *conn, const char *outcome, const char *message)
{
	stop(conn);
	conn->over = true;
	conn->lost(conn->context, outcome, message);
}

static void end_as_failed(struct conn *conn, const char *message)
{
	end(conn, "failed", message);
}

/* Its frames are not what they should be, so somebody may have taken it over. */
static void end_as_wrong(struct conn *conn)
{
	end_as_failed(conn, "bloomd-redis sent what it must not send");
}

static void end_without_word(struct conn *conn)
{
	int status = stop(conn);
	char message[64];

	snprintf(message, sizeof(message), "bloomd-redis ended with %s %d",
		 WIFEXITED(status) ? "code" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	end_as_failed(conn, message);
}

static void take_ready(struct conn *conn, const struct connframe *frame)
{
	if (frame->size || conn->is_ready) {
		end_as_wrong(conn);
		return;
	}
	conn->is_ready = true;
	conn->ready(conn->context);
}

static void take_answer(struct conn *conn, const struct connframe *frame)
{
	struct server_reply *nodes = NULL;
	struct request *request = conn->is_ready ? take_request(conn) : NULL;

	if (!request)
		end_as_wrong(conn);
	else if (replyframe_read(frame->content, frame->size, &nodes))
		end_as_failed(conn, xb_error_message());
	else
		request->answered(request->context, nodes);
	free(nodes);
	free(request);
}

static void take_end(struct conn *conn, const struct connframe *frame)
{
	static const char *const outcomes[] = {
#define NAME(symbol, name) name,
		REDIS_OUTCOMES(NAME)
#undef NAME
	};
	struct redis_end told;

	if (frame->size != sizeof(told)) {
		end_as_wrong(conn);
		return;
	}
	memcpy(&told, frame->content, sizeof(told));
	if (told.outcome < REDIS_OUTCOME_COUNT && wire_text_ok(told.text, sizeof(told.text)))
		end(conn, outcomes[told.outcome], told.text);
	else
		end_as_wrong(conn);
}

static void take_frame(struct conn *conn, const struct connframe *frame)
{
	switch (frame->kind) {
	case REDIS_READY:
		take_ready(conn, frame);
		break;
	case REDIS_ANSWER:
		take_answer(conn, frame);
		break;
	case REDIS_END:
		take_end(conn, frame);
		break;
	default:
		end_as_wrong(conn);
	}
}

static bool is_gone(const struct conn *conn)
{
	return conn->over || conn->closed;
}

/* Callbacks may close the conn, but what was read stays until all of it is taken. */
static void take_frames(struct conn *conn)
{
	struct connpipe read = conn->pipe;
	struct connframe frame;
	size_t used = 0;
	int got = 0;

	conn->pipe.in = NULL;
	conn->pipe.in_size = conn->pipe.in_room = 0;
	while (!is_gone(conn) && (got = connpipe_next(&read, &used, &frame)) > 0)
		take_frame(conn, &frame);
	if (!is_gone(conn) && got < 0)
		end_as_wrong(conn);
	if (is_gone(conn)) {
		free(read.in);
		return;
	}
	conn->pipe.in = read.in;
	conn->pipe.in_size = read.in_size;
	conn->pipe.in_room = read.in_room;
	connpipe_drop(&conn->pipe, used);
}

static void read_frames(struct conn *conn)
{
	int got = connpipe_read(&conn->pipe);

	if (got < 0)
		end_as_failed(conn, xb_error_message());
	else if (!got)
		end_without_word(conn);
	else
		take_frames(conn);
}

static void watch(struct conn *conn)
{
	bool sends = connpipe_has_unsent(&conn->pipe);

	sd_event_source_set_io_events(conn->io, sends ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Of the conn, or of the request that has the least time. */
static uint64_t first_deadline(const struct conn *conn)
{
	uint64_t first = conn->is_ready ? UINT64_MAX : conn->deadline;
	const struct request *request;

	STAILQ_FOREACH(request, &conn->requests, next)
	if (request->deadline < first)
		first = request->deadline;
	return first;
}

static void set_timer(struct conn *conn, uint64_t deadline)
{
	sd_event_source_set_time(conn->timer, deadline);
	sd_event_source_set_enabled(conn->timer,
				    deadline == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void leave(struct conn *conn)
{
	conn->busy = false;
	if (conn->closed)
		free(conn);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct conn *conn = context;

	(void)source;
	(void)fd;
	conn->busy = true;
	if (events & EPOLLOUT)
		connpipe_send(&conn->pipe);
	if (events & ~(uint32_t)EPOLLOUT)
		read_frames(conn);
	if (!is_gone(conn))
		watch(conn);
	leave(conn);
	return 0;
}

/* A request that had less time may have been answered since the timer was set. */
static int on_timer(sd_event_source *source, uint64_t time, void *context)
{
	struct conn *conn = context;
	uint64_t first = first_deadline(conn);

	(void)source;
	(void)time;
	conn->busy = true;
	if (first > agent_clock())
		set_timer(conn, first);
	else
		end(conn, "timeout",
		    conn->is_ready ? "the server did not answer a request in time"
				   : "the server was not reached in time");
	leave(conn);
	return 0;
}

static int hang_in(struct conn *conn)
{
	int error =
		sd_event_add_io(conn->agent->loop, &conn->io, conn->pipe.fd, EPOLLIN, on_io, conn);

	if (error >= 0)
		error = sd_event_add_time(conn->agent->loop, &conn->timer, CLOCK_MONOTONIC,
					  conn->deadline, 0, on_timer, conn);
	return error < 0 ? xb_system_error(-error, "cannot watch a process") : 0;
}

static int copy(char *to, size_t room, const char *text, const char *what)
{
	if (text && strlen(text) >= room)
		return xb_input_error("%s of the fleet's server is too long", what);
	strcpy(to, text ?: "");
	return 0;
}

static int fill(const struct conn_target *from, struct redis_target *target)
{
	int error;

	*target = (struct redis_target){.magic = REDIS_MAGIC, .seconds = from->seconds};
	error = connurl_read(from->url, &target->place);
#define COPY(field, what)                                                                          \
	error = error ?: copy(target->field, sizeof(target->field), from->field, what)
	COPY(user, "the user");
	COPY(password_file, "the path of the password");
	COPY(ca, "the path of the certificates");
	COPY(cert, "the path of the certificate");
	COPY(cert_key, "the path of the certificate's key");
#undef COPY
	return error;
}

static int open_pipe(struct conn *conn, const struct conn_target *target)
{
	struct redis_target *filled = malloc(sizeof(*filled));
	int error = filled ? fill(target, filled) : xb_out_of_memory();

	if (!error)
		error = connpipe_open(&conn->pipe, filled);
	free(filled);
	return error ?: hang_in(conn);
}

int conn_open(struct agent *agent, const struct conn_target *target, conn_ready *ready,
	      conn_lost *lost, void *context, struct conn **out)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	int error;

	*out = NULL;
	if (!conn)
		return xb_out_of_memory();
	*conn = (struct conn){.agent = agent,
			      .ready = ready,
			      .lost = lost,
			      .context = context,
			      .seconds = target->seconds,
			      .deadline = agent_clock() + (target->seconds + GRACE) * SECOND,
			      .pipe.fd = -1};
	STAILQ_INIT(&conn->requests);
	error = open_pipe(conn, target);
	if (error)
		conn_close(conn);
	else
		*out = conn;
	return error;
}

static int add(struct conn *conn, const struct conn_word *words, size_t count,
	       struct request *request)
{
	int error = connpipe_add(&conn->pipe, words, count);

	if (error)
		return error;
	STAILQ_INSERT_TAIL(&conn->requests, request, next);
	conn->waiting++;
	watch(conn);
	set_timer(conn, first_deadline(conn));
	return 0;
}

int conn_ask(struct conn *conn, const struct conn_word *words, size_t count, uint32_t seconds,
	     conn_answered *answered, void *context)
{
	struct request *request;
	int error;

	if (is_gone(conn))
		return xb_system_error(0, "the connection to the fleet's server is lost");
	if (conn->waiting == CONN_WAITING_MAX)
		return xb_system_error(0, "too many requests wait for the fleet's server");
	request = malloc(sizeof(*request));
	if (!request)
		return xb_out_of_memory();
	*request = (struct request){.deadline = agent_clock() + (seconds ?: conn->seconds) * SECOND,
				    .answered = answered,
				    .context = context};
	error = add(conn, words, count, request);
	if (error)
		free(request);
	return error;
}
