/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/api.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/paths.h"
#include "bloomd/api/client.h"
#include "bloomd/api/group.h"
#include "bloomd/api/tasks.h"
#include "bloomd/base/listener.h"
#include "bloomd/base/log.h"

#define CLIENTS_DEFAULT 1000	/* of each socket */
#define OTHER_FILES	256	/* descriptors that are not of clients */
#define ACCEPT_MOST	64	/* clients at once */
#define FULL_PAUSE	100000	/* us: without a descriptor for a new client */
#define TURN_MOST	5000	/* us: so long requests wait for others that come */
#define MANY		1024	/* requests, after which some more are worth to be waited for: */
#define MANY_PAUSE	500	/* us: so long without one, */
#define MANY_MOST	20000	/* us: so long in all */
#define PACE_CHECK	1000000 /* us between two looks for clients that do not read */
#define TURN_PRIORITY	(SD_EVENT_PRIORITY_NORMAL + 10)

struct api {
	struct agent *agent;
	struct clients clients[SOCKETS];
	struct group *group;
	int listening[SOCKETS]; /* -1: not */
	sd_event_source *accepting[SOCKETS];
	sd_event_source *turn;	/* when all that came is read */
	sd_event_source *pace;	/* while clients have answers to read */
	sd_event_source *later; /* a turn, or new clients, at a time */
	uint64_t waiting_since; /* us, monotonic; 0: nothing waits */
	bool swollen;		/* clients had much since memory was given back */
};

static const char *const names[SOCKETS] = {API_SOCKET, QUERY_SOCKET};

static uint64_t now_of(const struct api *api)
{
	uint64_t now = 0;

	sd_event_now(api->agent->loop, CLOCK_MONOTONIC, &now);
	return now;
}

/* --- clients that cost too much ----------------------------------------------------------------
 */

static void drop_largest(struct api *api)
{
	struct client *client;

	for (size_t i = 0; i < SOCKETS; i++)
		while ((client = clients_largest(&api->clients[i]))) {
			log_info("client %llu of %s is dropped: it has %zu bytes of all clients' "
				 "%zu",
				 (unsigned long long)client->id, names[i], client->held,
				 api->clients[i].held);
			client_free(client);
		}
}

/* What clients had that are gone lies among what goes on, so that malloc() keeps it. */
static void give_back(struct api *api)
{
	size_t held = api->clients[SOCKET_API].held + api->clients[SOCKET_QUERY].held;

	if (held > CLIENTS_HELD / 2)
		api->swollen = true;
	if (!api->swollen || held > CLIENTS_HELD / 16)
		return;
	malloc_trim(0);
	api->swollen = false;
}

static void watch_pace(struct api *api)
{
	int on = SD_EVENT_OFF;

	if (!api->clients[SOCKET_API].unread && !api->clients[SOCKET_QUERY].unread)
		return;
	if (sd_event_source_get_enabled(api->pace, &on) < 0 || on != SD_EVENT_OFF)
		return;
	sd_event_source_set_time_relative(api->pace, PACE_CHECK);
	sd_event_source_set_enabled(api->pace, SD_EVENT_ONESHOT);
}

static int on_pace(sd_event_source *source, uint64_t time, void *context)
{
	struct api *api = context;

	(void)source;
	(void)time;
	for (size_t i = 0; i < SOCKETS; i++) {
		size_t count = clients_drop_slow(&api->clients[i], now_of(api));

		if (count)
			log_info("%zu clients of %s are dropped: they do not read their answers",
				 count, names[i]);
	}
	watch_pace(api);
	return 0;
}

/* After clients were read from or answered. */
static void bound_clients(struct api *api)
{
	drop_largest(api);
	give_back(api);
	watch_pace(api);
}

/* --- turns -------------------------------------------------------------------------------------
 */

static void wake_in(struct api *api, uint64_t delay)
{
	sd_event_source_set_time_relative(api->later, delay);
	sd_event_source_set_enabled(api->later, SD_EVENT_ONESHOT);
}

static void take_turn(struct api *api)
{
	uint64_t delay = group_turn(api->group);

	bound_clients(api);
	api->waiting_since = 0;
	sd_event_source_set_enabled(api->turn, delay ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
	if (delay && delay != GROUP_IDLE)
		wake_in(api, delay);
}

static int on_turn(sd_event_source *source, void *context)
{
	(void)source;
	take_turn(context);
	return 0;
}

/* What is still to be read can join the turn, but nobody waits for long. Of a client that sends
 * without a pause, the kernel has no more than 200 KiB at a time; a transaction costs about the
 * same for ten times as many. */
static void ask_for_turn(struct api *api)
{
	size_t requests = api->clients[SOCKET_API].requests + api->clients[SOCKET_QUERY].requests;
	uint64_t now = now_of(api), waited;
	bool many = requests >= MANY;

	if (!api->waiting_since)
		api->waiting_since = now;
	waited = now - api->waiting_since;
	if (requests >= TASKS_MOST || waited > (many ? MANY_MOST : TURN_MOST)) {
		take_turn(api);
	} else if (many) {
		sd_event_source_set_enabled(api->turn, SD_EVENT_OFF);
		wake_in(api, MANY_PAUSE);
	} else {
		sd_event_source_set_enabled(api->turn, SD_EVENT_ONESHOT);
	}
}

/* --- clients -----------------------------------------------------------------------------------
 */

static int on_client(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct client *client = context;
	struct clients *all = client->all;
	struct api *api = all->owner;

	(void)source;
	(void)fd;
	if (events & EPOLLOUT)
		client_flush(client);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		client_read(client, now_of(api));
	client_settle(client);
	bound_clients(api);
	if (!TAILQ_EMPTY(&all->waiting))
		ask_for_turn(api);
	return 0;
}

static uint64_t most_clients(const struct api *api)
{
	uint64_t most = api->agent->config->api.clients;

	return most ? most : CLIENTS_DEFAULT;
}

static void refuse_client(int fd)
{
	static const char full[] = "-ERR max number of clients reached\r\n";

	if (send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0; /* it sees that it is closed */
	shutdown(fd, SHUT_RDWR);
	close(fd);
}

static void admit_client(struct api *api, int fd, struct clients *all)
{
	struct client *client, *oldest;

	if (all->count >= most_clients(api)) {
		oldest = clients_oldest(all, now_of(api));
		if (!oldest) {
			refuse_client(fd);
			return;
		}
		client_free(oldest);
	}
	client = client_new(all, fd, now_of(api));
	if (!client)
		return;
	client->events = EPOLLIN;
	if (sd_event_add_io(api->agent->loop, &client->source, fd, EPOLLIN, on_client, client) < 0)
		client_free(client);
}

/* No descriptor is left, so no client can be told. Those that wait stay in the queue of the socket
 * for a while. */
static void pause_accepting(struct api *api)
{
	for (size_t i = 0; i < SOCKETS; i++)
		if (api->accepting[i])
			sd_event_source_set_enabled(api->accepting[i], SD_EVENT_OFF);
	wake_in(api, FULL_PAUSE);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct api *api = context;
	int client;

	(void)source;
	(void)events;
	for (int i = 0; i < ACCEPT_MOST; i++) {
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (client < 0)
			break;
		admit_client(api, client,
			     &api->clients[fd == api->listening[SOCKET_QUERY] ? SOCKET_QUERY
									      : SOCKET_API]);
	}
	if (client >= 0)
		return 0;
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		pause_accepting(api);
	return 0;
}

static int on_later(sd_event_source *source, uint64_t time, void *context)
{
	struct api *api = context;

	(void)source;
	(void)time;
	for (size_t i = 0; i < SOCKETS; i++)
		if (api->accepting[i])
			sd_event_source_set_enabled(api->accepting[i], SD_EVENT_ON);
	take_turn(api);
	return 0;
}

/* --- sockets -----------------------------------------------------------------------------------
 */

struct admission {
	unsigned int mode;
	const char *group;
};

static struct admission admission_of(const struct api *api, size_t i)
{
	const struct api_config *config = &api->agent->config->api;

	if (!i)
		return (struct admission){0660, config->group};
	return (struct admission){config->query_mode ? config->query_mode : 0660,
				  config->query_group ? config->query_group : config->group};
}

static int open_socket(struct api *api, size_t i)
{
	struct admission admission = admission_of(api, i);
	char path[XB_PATH_MAX];
	int fd, error = xb_path_join(path, api->agent->paths.run, names[i]);

	/* At boot the directory may not be there yet. */
	if (!error)
		error = xb_directory_make(api->agent->paths.run);
	if (error)
		return error;
	fd = listener_open(path, admission.mode, admission.group);
	if (fd < 0)
		return fd;
	api->listening[i] = fd;
	error = sd_event_add_io(api->agent->loop, &api->accepting[i], fd, EPOLLIN, on_connection,
				api);
	return error < 0 ? xb_system_error(-error, "cannot wait for clients") : 0;
}

static void close_socket(struct api *api, size_t i)
{
	char path[XB_PATH_MAX];

	sd_event_source_disable_unref(api->accepting[i]);
	api->accepting[i] = NULL;
	if (!xb_path_join(path, api->agent->paths.run, names[i]))
		listener_close(api->listening[i], path);
	api->listening[i] = -1;
}

static void close_sockets(struct api *api)
{
	struct client *client;

	for (size_t i = 0; i < SOCKETS; i++) {
		close_socket(api, i);
		while ((client = LIST_FIRST(&api->clients[i].list)))
			client_free(client);
	}
}

static int open_sockets(struct api *api)
{
	int error = 0;

	for (size_t i = 0; !error && i < SOCKETS; i++)
		error = open_socket(api, i);
	if (error)
		close_sockets(api);
	return error;
}

/* Each client takes a descriptor; many systems allow 1,024 unless a process asks for more. */
static void allow_files(const struct api *api)
{
	struct rlimit limit;
	rlim_t wanted = (rlim_t)SOCKETS * most_clients(api) + OTHER_FILES;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		log_info("the limit of open files stays as it is");
}

static int add_sources(struct api *api)
{
	sd_event *loop = api->agent->loop;
	int error = sd_event_add_defer(loop, &api->turn, on_turn, api);

	if (error >= 0)
		error = sd_event_source_set_priority(api->turn, TURN_PRIORITY);
	if (error >= 0)
		error = sd_event_source_set_enabled(api->turn, SD_EVENT_OFF);
	if (error >= 0)
		error = sd_event_add_time(loop, &api->later, CLOCK_MONOTONIC, 0, 1000, on_later,
					  api);
	if (error >= 0)
		error = sd_event_source_set_enabled(api->later, SD_EVENT_OFF);
	if (error >= 0)
		error = sd_event_add_time(loop, &api->pace, CLOCK_MONOTONIC, 0, 1000, on_pace, api);
	if (error >= 0)
		error = sd_event_source_set_enabled(api->pace, SD_EVENT_OFF);
	return error < 0 ? xb_system_error(-error, "cannot serve clients") : 0;
}

int api_start(struct agent *agent, struct api **out)
{
	struct api *api = calloc(1, sizeof(*api));
	int error;

	*out = api;
	if (!api)
		return xb_out_of_memory();
	api->agent = agent;
	for (size_t i = 0; i < SOCKETS; i++) {
		api->listening[i] = -1;
		api->clients[i].owner = api;
		api->clients[i].socket = (enum client_socket)i;
		LIST_INIT(&api->clients[i].list);
		TAILQ_INIT(&api->clients[i].waiting);
	}
	error = group_start(agent, api->clients, &api->group);
	if (!error)
		error = add_sources(api);
	if (!error && !agent->config->api.off) {
		allow_files(api);
		error = open_sockets(api);
	}
	return error;
}

int api_reload(struct api *api)
{
	int error = 0;

	if (api->agent->config->api.off) {
		close_sockets(api);
		return 0;
	}
	allow_files(api);
	if (api->listening[0] < 0)
		return open_sockets(api);
	for (size_t i = 0; !error && i < SOCKETS; i++) {
		struct admission admission = admission_of(api, i);
		char path[XB_PATH_MAX];

		error = xb_path_join(path, api->agent->paths.run, names[i]);
		if (!error)
			error = listener_admit(api->listening[i], path, admission.mode,
					       admission.group);
	}
	return error;
}

void api_stop(struct api *api)
{
	if (!api)
		return;
	close_sockets(api);
	sd_event_source_disable_unref(api->turn);
	sd_event_source_disable_unref(api->later);
	sd_event_source_disable_unref(api->pace);
	group_stop(api->group);
	free(api);
}
