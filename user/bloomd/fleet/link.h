/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection to the fleet's server, through a process bloomd-redis of its own, which alone talks
 * to the network, and has no rights (user/redis/). */
#ifndef XB_BLOOMD_LINK_H
#define XB_BLOOMD_LINK_H

#include "bloomd/base/agent.h"
#include "bloomd/fleet/linkword.h"
#include "bloomd/fleet/reply.h"

/* Where the server is and how to speak to it. Texts are the owner's; NULL: not set. */
struct link_target {
	const char *url; /* redis://HOST[:PORT], rediss://HOST[:PORT], unix:/PATH */
	const char *user, *password_file;
	const char *ca, *cert, *cert_key; /* files, of TLS alone; no ca: those of the system */
	uint32_t seconds;		  /* to connect, and for an answer to each request that
					     does not say otherwise */
};

struct link;

/* Whether it is one of these, for who reads the configuration. Returns 0, or an error with its
 * message. */
int link_check_url(const char *url);

/* The server is there, TLS and AUTH are done. */
typedef void link_ready(void *context);
/*
 * It is over. outcome: a word for states and metrics: "no-name", "no-connection", "tls", "auth",
 * "no-key" (a file with a password or certificate cannot be read), "timeout", "protocol",
 * "too-large", "closed" (after it was ready) or "failed" (the process, not the server). message: a
 * line of visible ASCII. The link is to be closed, also from here.
 */
typedef void link_lost(void *context, const char *outcome, const char *message);
/* The answer to a request; valid during the call. The link may be closed from here. */
typedef void link_answered(void *context, const struct server_reply *reply);

/* Starts the process. Calls come from the loop, never from within. Returns 0, or an error with its
 * message. */
int link_open(struct agent *agent, const struct link_target *target, link_ready *ready,
	      link_lost *lost, void *context, struct link **link);

/* Ends the process; requests that wait are not answered any more. NULL: nothing. */
void link_close(struct link *link);

/*
 * Sends a request, also before the link is ready. Answers come in the order of the requests.
 * seconds: that the answer may take, counted from here, so behind what was asked before; 0: as the
 * target says. Returns 0, or an error with its message: then nothing was sent.
 */
int link_ask(struct link *link, const struct link_word *words, size_t count, uint32_t seconds,
	     link_answered *answered, void *context);

/* How many requests are not answered yet. */
size_t link_waiting(const struct link *link);

#endif
