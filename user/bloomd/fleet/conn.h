/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection to the fleet's server, through a process bloomd-redis of its own, which alone talks
 * to the network, and has no rights (user/redis/). */
#ifndef XB_BLOOMD_CONN_H
#define XB_BLOOMD_CONN_H

#include "bloomd/base/agent.h"
#include "bloomd/fleet/connword.h"
#include "bloomd/fleet/reply.h"

/* Where the server is and how to speak to it. Texts are the owner's; NULL: not set. */
struct conn_target {
	const char *url; /* redis://HOST[:PORT], rediss://HOST[:PORT], unix:/PATH */
	const char *user, *password_file;
	const char *ca, *cert, *cert_key; /* files, of TLS alone; no ca: those of the system */
	uint32_t seconds;		  /* to connect, and for an answer to each request that
					     does not say otherwise */
};

struct conn;

/* The server is there, TLS and AUTH are done. */
typedef void conn_ready(void *context);
/*
 * It is over. outcome: a word for states and metrics: "no-name", "no-connection", "tls", "auth",
 * "no-key" (a file with a password or certificate cannot be read), "timeout", "protocol",
 * "too-large", "closed" (after it was ready) or "failed" (the process, not the server). message: a
 * line of visible ASCII. The connection is to be closed, also from here.
 */
typedef void conn_lost(void *context, const char *outcome, const char *message);
/* The answer to a request; valid during the call. The connection may be closed from here. */
typedef void conn_answered(void *context, const struct server_reply *reply);

/* Starts the process. Calls come from the loop, never from within. Returns 0, or an error with its
 * message. */
int conn_open(struct agent *agent, const struct conn_target *target, conn_ready *ready,
	      conn_lost *lost, void *context, struct conn **conn);

/* Ends the process; requests that wait are not answered any more. NULL: nothing. */
void conn_close(struct conn *conn);

/*
 * Sends a request, also before the connection is ready. Answers come in the order of the requests.
 * seconds: that the answer may take, counted from here, so behind what was asked before; 0: as the
 * target says. Returns 0, or an error with its message: then nothing was sent.
 */
int conn_ask(struct conn *conn, const struct conn_word *words, size_t count, uint32_t seconds,
	     conn_answered *answered, void *context);

/* How many requests are not answered yet. */
size_t conn_waiting(const struct conn *conn);

#endif
