/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/wait.h>

#include "base/error.h"
#include "bloomd/fleet/linkpipe.h"
#include "bloomd/fleet/linkurl.h"
#include "bloomd/fleet/replyframe.h"

#define SECOND 1000000ULL /* us */
#define GRACE  2	  /* seconds for the process to say itself that its time is over */

struct request {
	STAILQ_ENTRY(request) next;
	uint64_t deadline; /* agent_clock() */
	link_answered *answered;
	void *context;
};

struct link {
	struct linkpipe pipe;
	struct agent *agent;
	link_ready *ready;
	link_lost *lost;
	void *context;
	uint32_t seconds;
	uint64_t deadline; /* until it is ready */
	bool is_ready, over;
	bool busy, closed; /* in an event of the loop; closed meanwhile, and freed behind it */
	sd_event_source *io, *timer;
	STAILQ_HEAD(requests, request) requests;
	size_t waiting;
};

int link_check_url(const char *url)
{
	struct redis_place place = {0};

	return linkurl_read(url, &place);
}

size_t link_waiting(const struct link *link)
{
	return link->waiting;
}

static struct request *take_request(struct link *link)
{
	struct request *request = STAILQ_FIRST(&link->requests);

	if (request) {
		STAILQ_REMOVE_HEAD(&link->requests, next);
		link->waiting--;
	}
	return request;
}

/* Returns the status of the process. */
static int stop(struct link *link)
{
	struct request *request;

	sd_event_source_disable_unref(link->io);
	sd_event_source_disable_unref(link->timer);
	link->io = link->timer = NULL;
	while ((request = take_request(link)))
		free(request);
	return linkpipe_close(&link->pipe);
}

void link_close(struct link *link)
{
	if (!link)
		return;
	stop(link);
	link->closed = true;
	if (!link->busy)
		free(link);
}

/* Always behind everything else: the link may be closed from there. */
static void end(struct link *link, const char *outcome, const char *message)
{
	stop(link);
	link->over = true;
	link->lost(link->context, outcome, message);
}

static void end_as_failed(struct link *link, const char *message)
{
	end(link, "failed", message);
}

/* Its frames are not what they should be, so somebody may have taken it over. */
static void end_as_wrong(struct link *link)
{
	end_as_failed(link, "bloomd-redis sent what it must not send");
}

static void end_without_word(struct link *link)
{
	int status = stop(link);
	char message[64];

	snprintf(message, sizeof(message), "bloomd-redis ended with %s %d",
		 WIFEXITED(status) ? "code" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	end_as_failed(link, message);
}

static void take_ready(struct link *link, const struct linkframe *frame)
{
	if (frame->size || link->is_ready) {
		end_as_wrong(link);
		return;
	}
	link->is_ready = true;
	link->ready(link->context);
}

static void take_answer(struct link *link, const struct linkframe *frame)
{
	struct server_reply *nodes = NULL;
	struct request *request = link->is_ready ? take_request(link) : NULL;

	if (!request)
		end_as_wrong(link);
	else if (replyframe_read(frame->content, frame->size, &nodes))
		end_as_failed(link, xb_error_message());
	else
		request->answered(request->context, nodes);
	free(nodes);
	free(request);
}

static void take_end(struct link *link, const struct linkframe *frame)
{
	static const char *const outcomes[] = {
#define NAME(symbol, name) name,
		REDIS_OUTCOMES(NAME)
#undef NAME
	};
	struct redis_end told;

	if (frame->size != sizeof(told)) {
		end_as_wrong(link);
		return;
	}
	memcpy(&told, frame->content, sizeof(told));
	if (told.outcome < REDIS_OUTCOME_COUNT && wire_text_ok(told.text, sizeof(told.text)))
		end(link, outcomes[told.outcome], told.text);
	else
		end_as_wrong(link);
}

static void take_frame(struct link *link, const struct linkframe *frame)
{
	switch (frame->kind) {
	case REDIS_READY:
		take_ready(link, frame);
		break;
	case REDIS_ANSWER:
		take_answer(link, frame);
		break;
	case REDIS_END:
		take_end(link, frame);
		break;
	default:
		end_as_wrong(link);
	}
}

static bool is_gone(const struct link *link)
{
	return link->over || link->closed;
}

/* Callbacks may close the link, but what was read stays until all of it is taken. */
static void take_frames(struct link *link)
{
	struct linkpipe read = link->pipe;
	struct linkframe frame;
	size_t used = 0;
	int got = 0;

	link->pipe.in = NULL;
	link->pipe.in_size = link->pipe.in_room = 0;
	while (!is_gone(link) && (got = linkpipe_next(&read, &used, &frame)) > 0)
		take_frame(link, &frame);
	if (!is_gone(link) && got < 0)
		end_as_wrong(link);
	if (is_gone(link)) {
		free(read.in);
		return;
	}
	link->pipe.in = read.in;
	link->pipe.in_size = read.in_size;
	link->pipe.in_room = read.in_room;
	linkpipe_drop(&link->pipe, used);
}

static void read_frames(struct link *link)
{
	int got = linkpipe_read(&link->pipe);

	if (got < 0)
		end_as_failed(link, xb_error_message());
	else if (!got)
		end_without_word(link);
	else
		take_frames(link);
}

static void watch(struct link *link)
{
	bool sends = linkpipe_has_unsent(&link->pipe);

	sd_event_source_set_io_events(link->io, sends ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Of the link, or of the request that has the least time. */
static uint64_t first_deadline(const struct link *link)
{
	uint64_t first = link->is_ready ? UINT64_MAX : link->deadline;
	const struct request *request;

	STAILQ_FOREACH(request, &link->requests, next)
	if (request->deadline < first)
		first = request->deadline;
	return first;
}

static void set_timer(struct link *link, uint64_t deadline)
{
	sd_event_source_set_time(link->timer, deadline);
	sd_event_source_set_enabled(link->timer,
				    deadline == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void leave(struct link *link)
{
	link->busy = false;
	if (link->closed)
		free(link);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct link *link = context;

	(void)source;
	(void)fd;
	link->busy = true;
	if (events & EPOLLOUT)
		linkpipe_send(&link->pipe);
	if (events & ~(uint32_t)EPOLLOUT)
		read_frames(link);
	if (!is_gone(link))
		watch(link);
	leave(link);
	return 0;
}

/* A request that had less time may have been answered since the timer was set. */
static int on_timer(sd_event_source *source, uint64_t time, void *context)
{
	struct link *link = context;
	uint64_t first = first_deadline(link);

	(void)source;
	(void)time;
	link->busy = true;
	if (first > agent_clock())
		set_timer(link, first);
	else
		end(link, "timeout",
		    link->is_ready ? "the server did not answer a request in time"
				   : "the server was not reached in time");
	leave(link);
	return 0;
}

static int hang_in(struct link *link)
{
	int error =
		sd_event_add_io(link->agent->loop, &link->io, link->pipe.fd, EPOLLIN, on_io, link);

	if (error >= 0)
		error = sd_event_add_time(link->agent->loop, &link->timer, CLOCK_MONOTONIC,
					  link->deadline, 0, on_timer, link);
	return error < 0 ? xb_system_error(-error, "cannot watch a process") : 0;
}

static int copy(char *to, size_t room, const char *text, const char *what)
{
	if (text && strlen(text) >= room)
		return xb_input_error("%s of the fleet's server is too long", what);
	strcpy(to, text ?: "");
	return 0;
}

static int fill(const struct link_target *from, struct redis_target *target)
{
	int error;

	*target = (struct redis_target){.magic = REDIS_MAGIC, .seconds = from->seconds};
	error = linkurl_read(from->url, &target->place);
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

static int open_pipe(struct link *link, const struct link_target *target)
{
	struct redis_target *filled = malloc(sizeof(*filled));
	int error = filled ? fill(target, filled) : xb_out_of_memory();

	if (!error)
		error = linkpipe_open(&link->pipe, filled);
	free(filled);
	return error ?: hang_in(link);
}

int link_open(struct agent *agent, const struct link_target *target, link_ready *ready,
	      link_lost *lost, void *context, struct link **out)
{
	struct link *link = calloc(1, sizeof(*link));
	int error;

	*out = NULL;
	if (!link)
		return xb_out_of_memory();
	*link = (struct link){.agent = agent,
			      .ready = ready,
			      .lost = lost,
			      .context = context,
			      .seconds = target->seconds,
			      .deadline = agent_clock() + (target->seconds + GRACE) * SECOND,
			      .pipe.fd = -1};
	STAILQ_INIT(&link->requests);
	error = open_pipe(link, target);
	if (error)
		link_close(link);
	else
		*out = link;
	return error;
}

static int add(struct link *link, const struct link_word *words, size_t count,
	       struct request *request)
{
	int error = linkpipe_add(&link->pipe, words, count);

	if (error)
		return error;
	STAILQ_INSERT_TAIL(&link->requests, request, next);
	link->waiting++;
	watch(link);
	set_timer(link, first_deadline(link));
	return 0;
}

int link_ask(struct link *link, const struct link_word *words, size_t count, uint32_t seconds,
	     link_answered *answered, void *context)
{
	struct request *request;
	int error;

	if (is_gone(link))
		return xb_system_error(0, "the connection to the fleet's server is lost");
	if (link->waiting == LINK_WAITING_MAX)
		return xb_system_error(0, "too many requests wait for the fleet's server");
	request = malloc(sizeof(*request));
	if (!request)
		return xb_out_of_memory();
	*request = (struct request){.deadline = agent_clock() + (seconds ?: link->seconds) * SECOND,
				    .answered = answered,
				    .context = context};
	error = add(link, words, count, request);
	if (error)
		free(request);
	return error;
}
