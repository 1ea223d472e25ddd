/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmicrohttpd has an epoll of its own, which the loop watches; no thread is made. Connections are
 * accepted here, because its own limit would let idle clients shut others out: see
 * bloomd/http/visitors.h.
 */
#include "bloomd/http/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/http/history.h"
#include "bloomd/base/listen.h"
#include "bloomd/base/log.h"
#include "bloomd/http/site.h"
#include "bloomd/http/visitors.h"

struct http {
	struct agent *agent;
	struct listen_address address;
	int listener;
	struct MHD_Daemon *daemon;
	sd_event_source *newcomers, *ready, *timer;
	struct visitors visitors;
	struct site site;
	struct history *history;
};

static uint64_t seconds(void)
{
	return agent_clock() / 1000000;
}

/* When the library or a visitor's time asks for it. */
static void set_timer(struct http *http)
{
	uint64_t now = seconds(), end = visitors_tire(&http->visitors, now), delay = UINT64_MAX;
	MHD_UNSIGNED_LONG_LONG timeout;

	if (MHD_get_timeout(http->daemon, &timeout) == MHD_YES)
		delay = timeout * 1000;
	if (end && (end - now) * 1000000 < delay)
		delay = (end - now) * 1000000;
	sd_event_source_set_enabled(http->timer,
				    delay == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
	if (delay != UINT64_MAX)
		sd_event_source_set_time_relative(http->timer, delay);
}

static void serve(struct http *http)
{
	MHD_run(http->daemon);
	set_timer(http);
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *context)
{
	(void)source;
	(void)fd;
	(void)events;
	serve(context);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	serve(context);
	return 0;
}

#define AT_ONCE 16 /* then the loop sees to others */

static int on_newcomers(sd_event_source *source, int listener, uint32_t events, void *context)
{
	struct http *http = context;
	struct sockaddr_storage address;

	(void)source;
	(void)events;
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		socklen_t size = sizeof(address);
		int fd;

		memset(&address, 0, sizeof(address));
		fd = accept4(listener, (struct sockaddr *)&address, &size,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			break;
		visitors_enter(&http->visitors, fd, (struct sockaddr *)&address, seconds());
		/* It closes the socket if it does not take it. */
		if (MHD_add_connection(http->daemon, fd, (struct sockaddr *)&address, size) !=
		    MHD_YES)
			visitors_leave(&http->visitors, fd);
	}
	serve(http);
	return 0;
}

/* Before the number of the socket can be another's. */
static void on_connection(void *context, struct MHD_Connection *connection, void **socket,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	(void)socket;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED && info)
		visitors_leave(&http->visitors, info->connect_fd);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
				  const char *path, const char *method, const char *version,
				  const char *body, size_t *body_size, void **request)
{
	static int begun;
	struct http *http = context;

	(void)version;
	(void)body;
	/* First come the headers alone, then what there is of a body, then its end. */
	if (!*request) {
		*request = &begun;
		return MHD_YES;
	}
	if (*body_size) {
		*body_size = 0;
		return MHD_YES;
	}
	return site_answer(&http->site, connection, path, method);
}

#define CONNECTION_BYTES 16384 /* headers may take */
#define SILENCE		 5     /* seconds until a connection ends */

static int start_daemon(struct http *http)
{
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
					on_request, http, MHD_OPTION_CONNECTION_LIMIT,
					VISITORS_MAX + AT_ONCE, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
					(unsigned int)SILENCE, MHD_OPTION_NOTIFY_CONNECTION,
					on_connection, http, MHD_OPTION_END);
	return http->daemon ? 0 : xb_system_error(0, "cannot start the web server");
}

static int watch(struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	sd_event *loop = http->agent->loop;
	int error = info ? 0 : -EIO;

	if (!error)
		error = sd_event_add_io(loop, &http->ready, info->epoll_fd, EPOLLIN, on_ready,
					http);
	if (error >= 0)
		error = sd_event_add_io(loop, &http->newcomers, http->listener, EPOLLIN,
					on_newcomers, http);
	if (error >= 0)
		error = sd_event_add_time_relative(loop, &http->timer, CLOCK_MONOTONIC, 0, 10000,
						   on_time, http);
	return error < 0 ? xb_system_error(-error, "cannot serve the web") : 0;
}

static int start(struct http *http, const char *text)
{
	int error = listen_parse(text, &http->address);

	if (!error) {
		http->listener = listen_open(&http->address, text);
		error = http->listener < 0 ? http->listener : 0;
	}
	if (!error)
		error = start_daemon(http);
	if (!error)
		error = watch(http);
	if (!error)
		error = history_start(http->agent, &http->history);
	if (error)
		return error;
	http->site.history = http->history;
	http->site.checks_host =
		listen_is_local(&http->address) && http->address.socket.any.sa_family != AF_UNIX;
	log_info("metrics and a page at %s%s", text,
		 listen_is_local(&http->address) ? "" : ", where other machines may read them");
	return 0;
}

int http_start(struct agent *agent, struct http **out)
{
	const char *text = agent->config->http_listen;
	struct http *http;
	int error;

	*out = NULL;
	if (!text)
		return 0;
	http = calloc(1, sizeof(*http));
	if (!http)
		return xb_out_of_memory();
	*http = (struct http){
		.agent = agent, .listener = -1, .site = {.look = {.paths = &agent->paths}}};
	visitors_begin(&http->visitors);
	error = start(http, text);
	if (error)
		http_stop(http);
	else
		*out = http;
	return error;
}

int http_reload(struct agent *agent, struct http **http)
{
	const char *text = agent->config->http_listen;
	struct listen_address address;
	struct http *next;
	int error = text ? listen_parse(text, &address) : 0;

	if (error || (text && *http && listen_is_same(&address, &(*http)->address)))
		return error;
	error = http_start(agent, &next);
	if (error)
		return error;
	http_stop(*http);
	*http = next;
	return 0;
}

void http_stop(struct http *http)
{
	if (!http)
		return;
	history_stop(http->history);
	sd_event_source_disable_unref(http->newcomers);
	sd_event_source_disable_unref(http->ready);
	sd_event_source_disable_unref(http->timer);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	listen_close(http->listener, &http->address);
	look_free(&http->site.look);
	free(http);
}
