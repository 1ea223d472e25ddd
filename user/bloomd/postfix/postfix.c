/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/postfix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/base/listener.h"
#include "bloomd/base/log.h"
#include "bloomd/postfix/guest.h"
#include "engine/tallies.h"
#include "store/expiry.h"

#define GUESTS	    1000  /* at a time, of both sockets */
#define ACCEPT_MOST 64	  /* at once */
#define ANSWERS	    4	  /* to a guest at once; then it is the turn of others */
#define TURN	    10000 /* us: so long all guests are answered before the loop goes on */
#define PRIORITY    (SD_EVENT_PRIORITY_NORMAL + 10) /* as for the answers of the API */
#define FULL_PAUSE  100000			    /* us: without a descriptor for a new guest */
#define QUIET	    60000000			    /* us between two complaints */
#define MODE	    0660

struct door {
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int fd; /* -1: there is none */
	sd_event_source *source;
};

struct postfix {
	struct agent *agent;
	struct door door[GUEST_PROTOCOLS];
	sd_event_source *later; /* accepts again */
	sd_event_source *turn;	/* answers those who have asked */
	struct guest_list guests, asking;
	size_t count;
	bool has_files;	     /* it was allowed to open enough of them */
	uint64_t complained; /* agent_clock(); 0: never */
};

/* --- answers -----------------------------------------------------------------------------------
 */

static void complain(struct postfix *postfix)
{
	uint64_t now = agent_clock();

	if (postfix->complained && now - postfix->complained < QUIET)
		return;
	postfix->complained = now;
	log_error("a question of Postfix cannot be answered");
}

/* What all questions are answered from that come at once. */
struct snapshot {
	struct xb_store *store;
	struct answer_view view;
	bool open;
	char unreadable[512];
};

static int open_store(struct postfix *postfix, struct snapshot *snapshot)
{
	uint64_t hidden;
	int error = xb_store_begin_reading(postfix->agent->paths.state, &snapshot->store,
					   &snapshot->view.txn);

	if (error)
		return error == -ENOENT ? 0 : error;
	return xb_expiry_overlook_some(snapshot->view.txn, (uint32_t)time(NULL), 0, &hidden);
}

static void open_snapshot(struct postfix *postfix, struct snapshot *snapshot)
{
	if (snapshot->open)
		return;
	snapshot->open = true;
	snapshot->view.config = &postfix->agent->config->postfix;
	snapshot->view.unreadable = snapshot->unreadable;
	if (open_store(postfix, snapshot))
		snprintf(snapshot->unreadable, sizeof(snapshot->unreadable), "%s",
			 xb_error_message());
}

static void answer_guest(struct postfix *postfix, struct guest *guest, struct snapshot *snapshot)
{
	static const char *const names[] = {"socketmap", "policy"};
	struct answer answer;

	open_snapshot(postfix, snapshot);
	if (guest->protocol == GUEST_POLICY)
		answer_policy(&snapshot->view, &guest->policy, &answer);
	else
		answer_socketmap(&snapshot->view, &guest->map, &answer);
	if (answer.failed)
		complain(postfix);
	guest_answer(guest, &answer);
	xb_tally_add(&postfix->agent->paths, XB_TALLY_API_REQUESTS, names[guest->protocol],
		     answer.failed ? "error" : "ok", 1);
}

/* --- guests ------------------------------------------------------------------------------------
 */

static void show_out(struct guest *guest)
{
	TAILQ_REMOVE(&guest->postfix->guests, guest, others);
	if (guest->asking)
		TAILQ_REMOVE(&guest->postfix->asking, guest, next);
	guest->postfix->count--;
	sd_event_source_disable_unref(guest->source);
	/* A child may have the descriptor, too; the connection ends all the same. */
	shutdown(guest->fd, SHUT_RDWR);
	close(guest->fd);
	free(guest);
}

/* Until its next turn, for which it waits in the queue. */
static int on_guest(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct guest *guest = context;
	struct postfix *postfix = guest->postfix;

	(void)fd;
	TAILQ_REMOVE(&postfix->guests, guest, others);
	TAILQ_INSERT_TAIL(&postfix->guests, guest, others);
	guest_flush(guest);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		guest_read(guest);
	TAILQ_INSERT_TAIL(&postfix->asking, guest, next);
	guest->asking = true;
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	sd_event_source_set_enabled(postfix->turn, SD_EVENT_ONESHOT);
	return 0;
}

static void serve(struct postfix *postfix, struct guest *guest, struct snapshot *snapshot)
{
	uint32_t events;

	TAILQ_REMOVE(&postfix->asking, guest, next);
	guest->asking = false;
	for (unsigned int i = 0; i < ANSWERS && guest_asks(guest); i++)
		answer_guest(postfix, guest, snapshot);
	guest_flush(guest);
	events = guest_events(guest);
	if (!events || sd_event_source_set_io_events(guest->source, events) < 0 ||
	    sd_event_source_set_enabled(guest->source, SD_EVENT_ON) < 0)
		show_out(guest);
}

/* What is asked was read before the snapshot is taken, so that it has whatever the asker knows of.
 */
static int on_turn(sd_event_source *source, void *context)
{
	struct snapshot snapshot = {.store = NULL};
	struct postfix *postfix = context;
	uint64_t until = agent_clock() + TURN;

	while (!TAILQ_EMPTY(&postfix->asking) && agent_clock() < until)
		serve(postfix, TAILQ_FIRST(&postfix->asking), &snapshot);
	xb_store_end_reading(snapshot.store, snapshot.view.txn);
	if (!TAILQ_EMPTY(&postfix->asking))
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static void admit(struct postfix *postfix, int fd, enum guest_protocol protocol)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest) {
		close(fd);
		return;
	}
	if (postfix->count >= GUESTS)
		show_out(TAILQ_FIRST(&postfix->guests));
	guest->postfix = postfix;
	guest->protocol = protocol;
	guest->fd = fd;
	TAILQ_INSERT_TAIL(&postfix->guests, guest, others);
	postfix->count++;
	if (sd_event_add_io(postfix->agent->loop, &guest->source, fd, EPOLLIN, on_guest, guest) < 0)
		show_out(guest);
}

/* --- doors -------------------------------------------------------------------------------------
 */

static void set_accepting(struct postfix *postfix, int enabled)
{
	for (size_t i = 0; i < GUEST_PROTOCOLS; i++)
		if (postfix->door[i].source)
			sd_event_source_set_enabled(postfix->door[i].source, enabled);
}

static int on_later(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	set_accepting(context, SD_EVENT_ON);
	return 0;
}

/* Without a descriptor nobody can be told. */
static void pause_accepting(struct postfix *postfix)
{
	set_accepting(postfix, SD_EVENT_OFF);
	sd_event_source_set_time_relative(postfix->later, FULL_PAUSE);
	sd_event_source_set_enabled(postfix->later, SD_EVENT_ONESHOT);
}

static int on_knock(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct postfix *postfix = context;
	int guest = 0;

	(void)source;
	(void)events;
	for (int i = 0; i < ACCEPT_MOST; i++) {
		guest = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (guest < 0)
			break;
		admit(postfix, guest,
		      fd == postfix->door[GUEST_POLICY].fd ? GUEST_POLICY : GUEST_SOCKETMAP);
	}
	if (guest < 0 &&
	    (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		pause_accepting(postfix);
	return 0;
}

static int open_door(struct postfix *postfix, const char *path, struct door *door)
{
	const struct postfix_config *config = &postfix->agent->config->postfix;
	int error;

	*door = (struct door){.fd = -1};
	strcpy(door->path, path);
	door->fd = listener_open(path, config->mode ? config->mode : MODE, config->group);
	if (door->fd < 0)
		return door->fd;
	error = sd_event_add_io(postfix->agent->loop, &door->source, door->fd, EPOLLIN, on_knock,
				postfix);
	return error < 0 ? xb_system_error(-error, "cannot wait for Postfix") : 0;
}

static void close_door(struct door *door)
{
	sd_event_source_disable_unref(door->source);
	listener_close(door->fd, door->path);
	*door = (struct door){.fd = -1};
}

/* Who is connected by a door that was closed goes with it. */
static void show_out_all(struct postfix *postfix, enum guest_protocol protocol)
{
	struct guest *guest, *next;

	for (guest = TAILQ_FIRST(&postfix->guests); guest; guest = next) {
		next = TAILQ_NEXT(guest, others);
		if (guest->protocol == protocol)
			show_out(guest);
	}
}

static int admit_again(const struct postfix *postfix, const struct door *door)
{
	const struct postfix_config *config = &postfix->agent->config->postfix;

	return listener_admit(door->fd, door->path, config->mode ? config->mode : MODE,
			      config->group);
}

static int set_door(struct postfix *postfix, enum guest_protocol protocol, const char *path)
{
	struct door *door = &postfix->door[protocol], next = {.fd = -1};
	int error = 0;

	if (path && door->fd >= 0 && !strcmp(path, door->path))
		return admit_again(postfix, door);
	if (path)
		error = open_door(postfix, path, &next);
	if (error) {
		close_door(&next);
		return error;
	}
	show_out_all(postfix, protocol);
	close_door(door);
	*door = next;
	return 0;
}

/* Each guest takes a descriptor. */
static void allow_files(struct postfix *postfix)
{
	struct rlimit limit;

	if (postfix->has_files || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur =
		limit.rlim_max - limit.rlim_cur > GUESTS ? limit.rlim_cur + GUESTS : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		log_info("the limit of open files stays as it is");
	postfix->has_files = true;
}

int postfix_reload(struct postfix *postfix)
{
	const struct postfix_config *config = &postfix->agent->config->postfix;
	int error;

	if (config->socketmap || config->policy)
		allow_files(postfix);
	error = set_door(postfix, GUEST_SOCKETMAP, config->socketmap);
	return error ? error : set_door(postfix, GUEST_POLICY, config->policy);
}

int postfix_start(struct agent *agent, struct postfix **out)
{
	struct postfix *postfix = calloc(1, sizeof(*postfix));
	int error;

	*out = postfix;
	if (!postfix)
		return xb_out_of_memory();
	postfix->agent = agent;
	for (size_t i = 0; i < GUEST_PROTOCOLS; i++)
		postfix->door[i].fd = -1;
	TAILQ_INIT(&postfix->guests);
	TAILQ_INIT(&postfix->asking);
	error = sd_event_add_time(agent->loop, &postfix->later, CLOCK_MONOTONIC, 0, 1000, on_later,
				  postfix);
	if (error >= 0)
		error = sd_event_source_set_enabled(postfix->later, SD_EVENT_OFF);
	if (error >= 0)
		error = sd_event_add_defer(agent->loop, &postfix->turn, on_turn, postfix);
	if (error >= 0)
		error = sd_event_source_set_priority(postfix->turn, PRIORITY);
	if (error >= 0)
		error = sd_event_source_set_enabled(postfix->turn, SD_EVENT_OFF);
	return error < 0 ? xb_system_error(-error, "cannot serve Postfix")
			 : postfix_reload(postfix);
}

void postfix_stop(struct postfix *postfix)
{
	if (!postfix)
		return;
	for (enum guest_protocol i = 0; i < GUEST_PROTOCOLS; i++) {
		show_out_all(postfix, i);
		close_door(&postfix->door[i]);
	}
	sd_event_source_disable_unref(postfix->later);
	sd_event_source_disable_unref(postfix->turn);
	free(postfix);
}
