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

	struct reply part;  /* the answer to the present request, as far as it was made */
	uint32_t part_word; /* of that request, with which it goes on; 0: it has not begun */

	struct reply out;
	size_t sent;	 /* of out */
	uint64_t unread; /* us, monotonic: since then it has read less than CLIENT_PACE of what it
			  * has to read; 0: nothing is left to be read */
	size_t paced;	 /* bytes that were sent since then */
	bool eof;	 /* it sends nothing more */
	bool closing;	 /* after the answers that it has, it is closed */
	bool broken;	 /* nothing can be sent to it */
	bool queued;	 /* it is in `waiting` */
	size_t held;	 /* bytes of memory, as counted in all->held */
};

LIST_HEAD(client_list, client);
TAILQ_HEAD(client_queue, client);

/* Each socket has clients, limits and a queue of its own, so that those of one never take the place
 * of those of another. */
enum client_socket { SOCKET_API, SOCKET_QUERY, SOCKETS };

struct clients {
	enum client_socket socket;
	void *owner;
	struct client_list list;
	struct client_queue waiting; /* those with requests to be answered, the first come first */
	size_t count, requests;	     /* requests: of those in `waiting` */
	size_t held;		     /* bytes of memory of all of them */
	size_t unread;		     /* clients that have answers to read */
	uint64_t last_id, served;    /* served: requests so far */
};

#define CLIENT_UNREAD (256U << 10) /* bytes of answers; with more, it is not read from */
#define CLIENT_AHEAD  (4U << 20)   /* bytes of requests that were not answered yet, the same; */
#define CLIENT_NARROW (64U << 10)  /* ... while all clients together have half of what they may */
#define CLIENT_OUT    (32U << 20)  /* bytes of answers; with more, it is dropped */
#define CLIENTS_HELD  (64U << 20)  /* bytes of all; with more, the one that has most is dropped */
#define CLIENTS_MOST  (128U << 20) /* ... also if its request is complete */
#define CLIENT_PACE   (64U << 10)  /* bytes of answers, or all of them, that it has to read in */
#define CLIENT_SLOW   10000000	   /* us; otherwise it is dropped. Without a pace for */
#define CLIENT_STALLS 1000000	   /* us, it makes room for a new client */

/* Takes over the socket. NULL without memory: the socket is closed. */
struct client *client_new(struct clients *all, int fd, uint64_t now);
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

/* If all clients have too much, the one to be dropped, which has more than its share; else NULL. */
struct client *clients_largest(struct clients *all);

/* The client that makes room for another: of those that are idle, and those that do not read, the
 * one that has been so for longest. NULL: there is none. */
struct client *clients_oldest(struct clients *all, uint64_t now);

/* Drops those that have read too little for too long, and returns their number. */
size_t clients_drop_slow(struct clients *all, uint64_t now);

#endif
