/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "bloomd/base/agent.h"

#define READ_LEAST 512 /* bytes of room for a read */

struct client *client_new(struct clients *all, int fd, uint64_t now)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(fd);
		return NULL;
	}
	client->all = all;
	client->fd = fd;
	client->used = now;
	client->id = ++all->last_id;
	all->count++;
	LIST_INSERT_HEAD(&all->list, client, others);
	return client;
}

static void unqueue(struct client *client)
{
	if (client->queued)
		TAILQ_REMOVE(&client->all->waiting, client, waiting);
	client->queued = false;
}

/* Keeps the sum of all clients. */
static void count_memory(struct client *client)
{
	size_t held = client->in_room + client->part.room + client->out.room +
		      client->resp.room * sizeof(*client->resp.word) +
		      client->request_room * sizeof(*client->request);

	client->all->held += held - client->held;
	client->held = held;
}

void client_free(struct client *client)
{
	unqueue(client);
	LIST_REMOVE(client, others);
	client->all->count--;
	client->all->held -= client->held;
	client->all->requests -= client_pending(client);
	client->all->unread -= client->unread != 0;
	sd_event_source_disable_unref(client->source);
	/* A child may have the descriptor, too; the connection ends all the same. */
	shutdown(client->fd, SHUT_RDWR);
	close(client->fd);
	free(client->in);
	free(client->request);
	resp_free(&client->resp);
	reply_free(&client->part);
	reply_free(&client->out);
	free(client);
}

static int note_request(struct client *client)
{
	struct resp *resp = &client->resp;

	if (xb_array_grow(&client->request, &client->request_room, client->requests + 1,
			  sizeof(*client->request)))
		return -ENOMEM;
	client->request[client->requests++] = (struct client_request){
		(uint32_t)resp->first, (uint32_t)(resp->count - resp->first)};
	client->all->requests++;
	resp_next(resp);
	return 0;
}

static void find_requests(struct client *client)
{
	enum resp_result result = RESP_MORE;

	while (!client->wrong && (result = resp_read(&client->resp, client->in, client->in_size,
						     &client->wrong)) == RESP_REQUEST)
		if (note_request(client)) {
			client->broken = true;
			return;
		}
	client->eof |= result == RESP_WRONG;
}

/* Bytes that it may send before its requests are answered. */
static size_t room_to_read(const struct client *client)
{
	size_t most = 2 * RESP_BYTES;

	if (client_pending(client))
		most = client->all->held > CLIENTS_HELD / 2 ? CLIENT_NARROW : CLIENT_AHEAD;
	return client->in_size < most ? most - client->in_size : 0;
}

static int make_room(struct client *client)
{
	size_t most = room_to_read(client);
	int there = 0;

	if (ioctl(client->fd, FIONREAD, &there) || there < READ_LEAST)
		there = READ_LEAST;
	if ((size_t)there < most)
		most = (size_t)there;
	return xb_array_grow(&client->in, &client->in_room, client->in_size + most, 1);
}

void client_read(struct client *client, uint64_t now)
{
	ssize_t count;

	if (client->eof || client->broken || !room_to_read(client))
		return;
	if (make_room(client)) {
		client->broken = true;
		return;
	}
	count = recv(client->fd, client->in + client->in_size, client->in_room - client->in_size,
		     MSG_DONTWAIT);
	if (count < 0) {
		client->broken = errno != EAGAIN && errno != EINTR;
		return;
	}
	client->used = now;
	client->eof = !count;
	client->in_size += (size_t)count;
	find_requests(client);
}

void client_flush(struct client *client)
{
	struct reply *out = &client->out;

	client->broken |= out->failed;
	while (!client->broken && client_unsent(client)) {
		ssize_t count = send(client->fd, out->bytes + client->sent, client_unsent(client),
				     MSG_DONTWAIT | MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			client->broken = errno != EAGAIN;
			return;
		}
		client->sent += (size_t)count;
		client->paced += (size_t)count;
	}
}

bool client_is_ready(const struct client *client)
{
	return client_pending(client) && !client->closing && !client->broken &&
	       client_unsent(client) <= CLIENT_UNREAD;
}

static void forget_requests(struct client *client)
{
	size_t rest = client->in_size - client->resp.begin;

	if (client->resp.begin)
		memmove(client->in, client->in + client->resp.begin, rest);
	resp_forget(&client->resp);
	client->in_size = rest;
	client->requests = client->answered = 0;
	reply_free(&client->part);
	if (rest)
		return;
	free(client->in);
	free(client->request);
	client->in = NULL;
	client->request = NULL;
	client->in_room = client->request_room = 0;
}

/* One that always leaves something to be read holds no more than that. */
static void forget_sent(struct client *client)
{
	size_t unsent = client_unsent(client);

	if (!unsent)
		reply_free(&client->out);
	else if (client->sent < CLIENT_UNREAD || client->sent < unsent)
		return;
	else
		memmove(client->out.bytes, client->out.bytes + client->sent, unsent);
	client->out.size = unsent;
	client->sent = 0;
}

static void note_pace(struct client *client)
{
	uint64_t before = client->unread;

	if (!client_unsent(client))
		client->unread = 0;
	else if (!before || client->paced >= CLIENT_PACE)
		client->unread = agent_clock();
	if (client->unread != before)
		client->paced = 0;
	client->all->unread += (client->unread != 0) - (size_t)(before != 0);
}

static bool is_over(const struct client *client)
{
	if (client->broken || client_unsent(client) > CLIENT_OUT)
		return true;
	if (client_unsent(client))
		return false;
	return client->closing || (client->eof && !client_pending(client));
}

static void enqueue(struct client *client)
{
	if (client_is_ready(client) == client->queued)
		return;
	if (client->queued) {
		unqueue(client);
		return;
	}
	client->queued = true;
	TAILQ_INSERT_TAIL(&client->all->waiting, client, waiting);
}

static bool wait_for(struct client *client, uint32_t events)
{
	if (events == client->events)
		return true;
	client->events = events;
	return sd_event_source_set_io_events(client->source, events) >= 0 &&
	       sd_event_source_set_enabled(client->source, events ? SD_EVENT_ON : SD_EVENT_OFF) >=
		       0;
}

bool client_settle(struct client *client)
{
	uint32_t events = 0;

	if (!client_pending(client)) {
		forget_requests(client);
		if (client->wrong && !client->closing) {
			reply_error(&client->out, "ERR Protocol error: %s", client->wrong);
			client->closing = true;
			client_flush(client);
		}
	}
	note_pace(client);
	forget_sent(client);
	count_memory(client);
	enqueue(client);
	if (!client->eof && !client->closing && client_unsent(client) <= CLIENT_UNREAD &&
	    room_to_read(client))
		events |= EPOLLIN;
	if (client_unsent(client))
		events |= EPOLLOUT;
	if (!is_over(client) && wait_for(client, events))
		return true;
	client_free(client);
	return false;
}

struct client *clients_largest(struct clients *all)
{
	struct client *client, *largest = NULL;
	size_t share = all->count ? CLIENTS_HELD / all->count : 0;

	if (all->held <= CLIENTS_HELD)
		return NULL;
	LIST_FOREACH(client, &all->list, others)
	if ((all->held > CLIENTS_MOST || (!client->queued && client->held > share)) &&
	    (!largest || client->held > largest->held))
		largest = client;
	return largest;
}

/* Since when nothing goes on with it; UINT64_MAX: something does. */
static uint64_t still_since(const struct client *client, uint64_t now)
{
	if (client->unread)
		return now - client->unread < CLIENT_STALLS ? UINT64_MAX : client->unread;
	return client_pending(client) ? UINT64_MAX : client->used;
}

struct client *clients_oldest(struct clients *all, uint64_t now)
{
	uint64_t since = UINT64_MAX;
	struct client *client, *oldest = NULL;

	LIST_FOREACH(client, &all->list, others)
	if (still_since(client, now) < since) {
		since = still_since(client, now);
		oldest = client;
	}
	return oldest;
}

size_t clients_drop_slow(struct clients *all, uint64_t now)
{
	struct client *client, *next;
	size_t count = 0;

	for (client = LIST_FIRST(&all->list); client; client = next) {
		next = LIST_NEXT(client, others);
		if (!client->unread || client->unread + CLIENT_SLOW > now)
			continue;
		/* It may have read while the loop was busy. */
		client_flush(client);
		note_pace(client);
		if (!client->unread || client->unread + CLIENT_SLOW > now)
			continue;
		client_free(client);
		count++;
	}
	return count;
}
