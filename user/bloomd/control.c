/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client has a few seconds for its line, and there are few of them at once: they are all root. */
#include "bloomd/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "bloomd/base/listener.h"

#define SECOND	1000000ULL /* us */
#define TIME	(5 * SECOND)
#define CLIENTS 8

struct client {
	struct control *control; /* NULL: the place is free */
	int fd;
	sd_event_source *readable, *late;
	char line[XB_CONTROL_LINE];
	size_t used;
};

struct control {
	struct agent *agent;
	control_answer *answer;
	void *context;
	int fd;
	sd_event_source *listening;
	struct sockaddr_un address;
	struct client clients[CLIENTS];
};

static void end_client(struct client *client)
{
	if (!client->control)
		return;
	sd_event_source_disable_unref(client->readable);
	sd_event_source_disable_unref(client->late);
	close(client->fd);
	memset(client, 0, sizeof(*client));
}

static void answer(struct client *client)
{
	char reply[XB_CONTROL_LINE + 1];
	size_t size;

	client->control->answer(client->control->context, client->line, reply);
	size = strlen(reply);
	reply[size] = '\n';
	/* It fits the buffer of a fresh socket; whoever does not read it has lost it. */
	send(client->fd, reply, size + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct client *client = context;
	ssize_t got =
		read(fd, client->line + client->used, sizeof(client->line) - 1 - client->used);
	char *end;

	(void)source;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0) {
		client->used += (size_t)got;
		client->line[client->used] = '\0';
		end = memchr(client->line, '\n', client->used);
		if (!end && client->used < sizeof(client->line) - 1)
			return 0;
		if (end) {
			*end = '\0';
			answer(client);
		}
	}
	end_client(client);
	return 0;
}

static int on_late(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	end_client(context);
	return 0;
}

static struct client *free_place(struct control *control)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (!control->clients[i].control)
			return &control->clients[i];
	return NULL;
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct control *control = context;
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client = free_place(control);

	(void)source;
	(void)events;
	if (accepted < 0)
		return 0;
	if (!client) {
		close(accepted);
		return 0;
	}
	client->control = control;
	client->fd = accepted;
	if (sd_event_add_io(control->agent->loop, &client->readable, accepted, EPOLLIN, on_readable,
			    client) < 0 ||
	    sd_event_add_time_relative(control->agent->loop, &client->late, CLOCK_MONOTONIC, TIME,
				       0, on_late, client) < 0)
		end_client(client);
	return 0;
}

static int open_socket(struct control *control)
{
	const char *run = control->agent->paths.run;
	int error = xb_directory_make(run);

	if (error)
		return error;
	control->fd = listener_bind(control->address.sun_path, 0600);
	return control->fd < 0 ? control->fd : 0;
}

int control_start(struct agent *agent, control_answer *answer_to, void *context,
		  struct control **out)
{
	struct control *control = calloc(1, sizeof(*control));
	int error;

	*out = control;
	if (!control)
		return xb_out_of_memory();
	*control =
		(struct control){.agent = agent, .answer = answer_to, .context = context, .fd = -1};
	error = xb_control_address(&agent->paths, &control->address);
	if (!error)
		error = open_socket(control);
	if (error)
		return error;
	error = sd_event_add_io(agent->loop, &control->listening, control->fd, EPOLLIN, on_client,
				control);
	return error < 0 ? xb_system_error(-error, "cannot watch a socket") : 0;
}

void control_stop(struct control *control)
{
	if (!control)
		return;
	for (size_t i = 0; i < CLIENTS; i++)
		end_client(&control->clients[i]);
	sd_event_source_disable_unref(control->listening);
	listener_close(control->fd, control->address.sun_path);
	free(control);
}
