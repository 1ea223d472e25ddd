/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clients of the socket: what each has sent and was not answered yet, and what it has not read
 * yet. All of that is bounded. */
#ifndef XB_BLOOMD_CLIENT_H
#define XB_BLOOMD_CLIENT_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "bloomd/api/reply.h"
#include "bloomd/api/resp.h"

#define CLIENT_NAME 64 /* bytes */

/* A complete request: its words are in the client's resp. */
struct client_request {
	uint32_t word, words;
};

struct client {
	struct clients *all;
	LIST_ENTRY(client) others;
	TAILQ_ENTRY(client) waiting;
	int fd;
	sd_event_source *source;
	uint32_t events; /* that the source waits for */
	uint64_t id;
	bool reads_only; /* it came by the socket for queries */
	char name[CLIENT_NAME + 1];
	uint64_t used; /* us, monotonic: when it last sent something */

	char *in;
	size_t in_size, in_room;
	struct resp resp;
	struct client_request *request;
	size_t requests, request_room;
	size_t answered;   /* of them */
	const char *wrong; /* what it sent behind them is no request, for this reason */
	uint64_t since;	   /* us, monotonic: others have been in the way of its write; 0: none */

	struct reply out;
	size_t sent;  /* of out */
	bool eof;     /* it sends nothing more */
	bool closing; /* after the answers that it has, it is closed */
	bool broken;  /* nothing can be sent to it */
	bool queued;  /* it is in `waiting` */
	size_t held;  /* bytes of memory, as counted in all->held */
};

LIST_HEAD(client_list, client);
TAILQ_HEAD(client_queue, client);

struct clients {
	struct client_list list;
	struct client_queue waiting; /* those with requests to be answered, the first come first */
	size_t count, requests;	     /* requests: of those in `waiting` */
	size_t held;		     /* bytes of memory of all of them */
	uint64_t last_id, served;    /* served: requests so far */
};

#define CLIENT_UNREAD (256U << 10) /* bytes of answers; with more, it is not read from */
#define CLIENT_AHEAD  (4U << 20)   /* bytes of requests that were not answered yet, the same; */
#define CLIENT_NARROW (64U << 10)  /* ... while all clients together have half of what they may */
#define CLIENT_OUT    (32U << 20)  /* bytes of answers; with more, it is dropped */
#define CLIENTS_HELD  (64U << 20)  /* bytes of all; with more, the one that has most is dropped */

/* Takes over the socket. NULL without memory: the socket is closed. */
struct client *client_new(struct clients *all, int fd, bool reads_only, uint64_t now);
void client_free(struct client *client);

/* Reads once what the client has sent, and finds the requests in it. */
void client_read(struct client *client, uint64_t now);

/* Sends what it can. */
void client_flush(struct client *client);

static inline size_t client_pending(const struct client *client)
{
	return client->requests - client->answered;
}

static inline size_t client_unsent(const struct client *client)
{
	return client->out.size - client->sent;
}

/* Whether its next request may be answered now: it has one, and reads its answers. */
bool client_is_ready(const struct client *client);

/* After all that an event brought: puts a client with requests into the queue, frees memory that
 * was for what is done, and waits for what is to come. False: there is no more to come, and the
 * client was freed. */
bool client_settle(struct client *client);

/* If all clients have too much, the one to be dropped; else NULL. */
struct client *clients_largest(struct clients *all);

/* The client that has been idle for longest; NULL: none is idle. */
struct client *clients_oldest(struct clients *all);

#endif
