/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A round looks up one host after another, and then writes all that still counts: the answers, and
 * what former ones said. A host without an answer keeps its addresses until their time is over. */
#include "bloomd/peers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/feeds/fetcher.h"
#include "bloomd/peerhosts.h"
#include "machine/peerfile.h"
#include "machine/sockaddr.h"

#define SECOND	    1000000ULL /* us */
#define EVERY	    (300 * SECOND)
#define SLACK	    (SECOND / 20)
#define RETRY	    (5 * SECOND) /* after the first round in which a host was not found */
#define ANSWER_TIME 20		 /* seconds, for a host */
#define ANSWER_MAX  1024	 /* bytes */

struct peers {
	struct agent *agent;
	peers_changed *changed;
	void *context;
	sd_event_source *timer;
	struct fetcher *fetcher;
	struct peerhosts hosts;
	size_t next;		   /* host of the round */
	struct xb_peer_list found; /* in the round */
	bool missed;		   /* a host of the round was not found */
	uint32_t failures;	   /* rounds with such a host, in a row */
	bool failed;		   /* to write; it was told */
};

static void plan(struct peers *peers)
{
	struct agent *agent = peers->agent;
	uint64_t now = agent_clock();

	peers->failures = peers->missed ? peers->failures + 1 : 0;
	agent->located = now;
	sd_event_source_set_time(
		peers->timer,
		now + (peers->missed ? delay_doubled(RETRY, peers->failures, EVERY) : EVERY));
	sd_event_source_set_enabled(peers->timer, SD_EVENT_ONESHOT);
}

/* What former rounds have found, of the hosts that are configured now. None is no file. */
static int add_former(struct peers *peers, struct xb_peer_list *all)
{
	struct xb_peer_list former = {0};
	int error = xb_peers_read(peers->agent->paths.run, time(NULL), &former);

	if (error && error != -ENOENT) /* it is replaced */
		xb_error_clear();
	error = error == -ENOENT && !all->count ? -ENOENT : 0;
	for (size_t i = 0; !error && i < former.count; i++)
		if (peerhosts_have(&peers->hosts, former.item[i].host))
			error = xb_peer_put(all, &former.item[i]);
	xb_peers_free(&former);
	return error;
}

static void end_round(struct peers *peers)
{
	int error = add_former(peers, &peers->found);

	if (!error)
		error = xb_peers_write(peers->agent->paths.run, &peers->found);
	xb_peers_free(&peers->found);
	if (error && error != -ENOENT && !peers->failed)
		log_error("the addresses of servers cannot be written down");
	peers->failed = error && error != -ENOENT;
	if (!error)
		peers->changed(peers->context);
	plan(peers);
}

static void put(struct peers *peers, const char *host, const struct xb_entry *address)
{
	struct xb_peer peer = {.address = *address, .seen = time(NULL)};

	strcpy(peer.host, host);
	if (xb_peer_address_ok(address) && xb_peer_put(&peers->found, &peer))
		log_error(host);
}

static void take_answer(struct peers *peers, const char *host, int body)
{
	char text[ANSWER_MAX + 1], *rest = text, *line;
	ssize_t size = read(body, text, ANSWER_MAX);

	text[size > 0 ? size : 0] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		struct xb_entry address;

		if (xb_address_parse(line, &address))
			put(peers, host, &address);
	}
}

static void go_on(struct peers *peers);

static void on_answer(void *context, const struct fetched *fetched)
{
	struct peers *peers = context;

	if (fetched->body >= 0) {
		take_answer(peers, peers->hosts.name[peers->next], fetched->body);
		close(fetched->body);
	} else {
		peers->missed = true;
	}
	fetcher_stop(peers->fetcher);
	peers->fetcher = NULL;
	peers->next++;
	go_on(peers);
}

static int ask(struct peers *peers, const char *host)
{
	struct fetch_request *request = calloc(1, sizeof(*request));
	int error;

	if (!request)
		return xb_out_of_memory();
	*request = (struct fetch_request){.magic = FETCH_MAGIC,
					  .seconds = ANSWER_TIME,
					  .max_bytes = ANSWER_MAX,
					  .kind = FETCH_ADDRESSES};
	strcpy(request->url, host);
	error = fetcher_ask(peers->agent, request, on_answer, peers, &peers->fetcher);
	free(request);
	return error;
}

/* Until a host has to be looked up, or the round is over. */
static void go_on(struct peers *peers)
{
	while (peers->next < peers->hosts.count) {
		const char *host = peers->hosts.name[peers->next];
		struct xb_entry address;

		if (xb_address_parse(host, &address)) {
			put(peers, host, &address);
		} else if (!ask(peers, host)) {
			return;
		} else {
			xb_error_clear();
			peers->missed = true;
		}
		peers->next++;
	}
	end_round(peers);
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	struct peers *peers = context;

	(void)source;
	(void)time;
	peers->next = 0;
	peers->missed = false;
	peerhosts_find(peers->agent->config, &peers->hosts);
	go_on(peers);
	return 0;
}

static void warn_of_more(struct peers *peers)
{
	peerhosts_find(peers->agent->config, &peers->hosts);
	if (peers->hosts.more)
		xb_warning("the addresses of %zu servers are not allowed automatically: only %d "
			   "are looked up",
			   peers->hosts.more, XB_PEER_HOSTS);
}

void peers_reload(struct peers *peers)
{
	fetcher_stop(peers->fetcher);
	peers->fetcher = NULL;
	xb_peers_free(&peers->found);
	peers->failures = 0;
	warn_of_more(peers);
	sd_event_source_set_time_relative(peers->timer, 0);
	sd_event_source_set_enabled(peers->timer, SD_EVENT_ONESHOT);
}

int peers_start(struct agent *agent, peers_changed *changed, void *context, struct peers **out)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	int error;

	*out = peers;
	if (!peers)
		return xb_out_of_memory();
	peers->agent = agent;
	peers->changed = changed;
	peers->context = context;
	error = sd_event_add_time_relative(agent->loop, &peers->timer, CLOCK_MONOTONIC, 0, SLACK,
					   on_time, peers);
	if (error < 0)
		return xb_system_error(-error, "cannot set a timer");
	agent->locating = peers->timer;
	warn_of_more(peers);
	return 0;
}

void peers_stop(struct peers *peers)
{
	if (!peers)
		return;
	fetcher_stop(peers->fetcher);
	xb_peers_free(&peers->found);
	peers->agent->locating = NULL;
	sd_event_source_disable_unref(peers->timer);
	free(peers);
}
