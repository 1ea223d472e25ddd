/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs bloomd-fetch, the only program that talks to servers of feeds, and takes its answer, which
 * it does not trust: somebody may have taken that process over. */
#ifndef XB_BLOOMD_FETCHER_H
#define XB_BLOOMD_FETCHER_H

#include "bloomd/base/agent.h"
#include "bloomd/feeds/feedconfig.h"
#include "fetch/wire.h"

struct fetcher;

/* The answer of bloomd-fetch, each field checked. body: a sealed descriptor, positioned at the
 * beginning, which the receiver closes; -1 unless the outcome is FETCH_TAKEN. */
struct fetched {
	struct fetch_result result;
	int body;
};

typedef void fetcher_done(void *context, const struct fetched *fetched);

/*
 * Starts it for one feed. The state says what the server need not send again; conditional: whether
 * it may say so. Calls done() once, from the loop, unless it is stopped before.
 */
int fetcher_start(struct agent *agent, const struct feed_config *feed,
		  const struct xb_feed_state *state, bool conditional, fetcher_done *done,
		  void *context, struct fetcher **fetcher);

/* The same for any request. */
int fetcher_ask(struct agent *agent, const struct fetch_request *request, fetcher_done *done,
		void *context, struct fetcher **fetcher);

/* Ends the process, if it still runs, and frees it. Also after done(). */
void fetcher_stop(struct fetcher *fetcher);

/* Reads what bloomd-fetch has written. False: that is no answer, and *result means nothing. */
bool fetcher_take_answer(const void *bytes, size_t size, struct fetch_result *result);

const char *fetcher_outcome(uint32_t outcome);

/* Whether the server was not reached, as if its packets did not come. */
bool fetcher_missed(const struct fetch_result *result);

#endif
