/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts' common ground: starting and ending, and the connection of the reader. Nothing that
 * goes wrong here changes the store. */
#include "bloomd/fleet/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/base/storewatch.h"
#include "bloomd/fleet/joining.h"
#include "bloomd/fleet/parts.h"
#include "engine/fleethosts.h"
#include "engine/fleetstate.h"
#include "engine/peercause.h"
#include "engine/tallies.h"

#define FIRST_DELAY 300000 /* us */
#define LAST_DELAY  (30 * FLEET_SECOND)
#define LOOK_EVERY  2000 /* us: several writes are seen at once */
#define JOIN_RETRY  (2 * FLEET_SECOND)
#define TICK	    (10 * FLEET_SECOND)

uint32_t fleet_random(void)
{
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	return random;
}

void fleet_refuses(struct fleet *fleet, const char *what)
{
	xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_REFUSED, what, NULL, 1);
}

static int on_again(sd_event_source *source, uint64_t time, void *context)
{
	struct fleet *fleet = context;

	(void)source;
	(void)time;
	fleet->then(fleet);
	return 0;
}

void fleet_then(struct fleet *fleet, uint64_t delay, void (*then)(struct fleet *fleet))
{
	fleet->then = then;
	sd_event_source_set_time(fleet->again, agent_clock() + delay);
	sd_event_source_set_enabled(fleet->again, SD_EVENT_ONESHOT);
}

bool fleet_has_all(const struct fleet *fleet)
{
	const char *key;
	json_t *host, *list;
	size_t i, k;

	if (fleet->foreign || !fleet_view_has_all(&fleet->view))
		return false;
	json_array_foreach(fleet->hosts, i, host)
		json_array_foreach(json_object_get(host, "lists"), k, list)
	{
		key = json_string_value(list);
		if (key && !fleet_view_shares(&fleet->view, key))
			return false;
	}
	return true;
}

void fleet_check(struct fleet *fleet)
{
	if (fleet->config->snapshot_url)
		loading_check(fleet);
	else
		reading_check(fleet);
}

/* --- the reader's connection --- */

static void connect_reader(struct fleet *fleet);

static void end_reader(struct fleet *fleet)
{
	conn_close(fleet->reader);
	fleet->reader = NULL;
	fleet->connected = fleet->checking = fleet->asked = false;
	follow_queue_clear(&fleet->queue);
	resync_stop(fleet);
	publishing_close(fleet);
}

/* A server that answers nonsense whenever it is asked. */
static bool is_nonsense(const char *outcome)
{
	return !strcmp(outcome, "protocol") || !strcmp(outcome, "too-large");
}

uint32_t fleet_failures(uint32_t failures, bool was_ready, uint64_t ready)
{
	return was_ready && agent_clock() > ready + LAST_DELAY ? 1 : failures + 1;
}

void fleet_heard(struct fleet *fleet)
{
	fleet->last_message = clock_now();
	if (!*fleet->outcome)
		return;
	log_info("fleet: connected again");
	*fleet->outcome = '\0';
}

/* As if its packets did not come. */
static bool is_missed(const char *outcome)
{
	return !strcmp(outcome, "no-name") || !strcmp(outcome, "no-connection") ||
	       !strcmp(outcome, "timeout") || !strcmp(outcome, "closed");
}

void fleet_missed(struct fleet *fleet, const char *url, const char *message, char why[FLEET_WHY])
{
	agent_missed_server(fleet->agent);
	xb_peer_cause(&fleet->agent->paths, url, message, why, FLEET_WHY);
}

void fleet_lost(struct fleet *fleet, const char *outcome, const char *message)
{
	char why[FLEET_WHY];
	uint64_t delay;

	if (is_missed(outcome)) {
		fleet_missed(fleet, fleet->config->url, message, why);
		message = why;
	}
	if (strcmp(outcome, fleet->outcome) != 0)
		xb_warning("fleet: %s: %s; what is listed stays", outcome, message);
	if (is_nonsense(outcome))
		fleet_refuses(fleet, "answer");
	snprintf(fleet->outcome, sizeof(fleet->outcome), "%s", outcome);
	/* Halves what is read at once: a few entries have room. */
	if (!strcmp(outcome, "too-large") && fleet->count > 1)
		fleet->count /= 2;
	fleet->failures = fleet_failures(fleet->failures, fleet->connected, fleet->ready);
	fleet_enter(fleet, FLEET_CONNECTING, "%s: %s", outcome, message);
	end_reader(fleet);
	/* What others did meanwhile was not seen. */
	fleet->resync.still_since = fleet->logless = fleet->snapshots.wanted = 0;
	delay = delay_doubled(FIRST_DELAY, fleet->failures, LAST_DELAY);
	fleet_then(fleet, delay_spread(delay, 2, fleet_random()), connect_reader);
	reporting_save(fleet);
}

const char *fleet_reply_text(const struct server_reply *reply, char text[REPLY_SHOWN])
{
	if (reply->kind != REPLY_ERROR)
		return "the server answers with another kind than asked for";
	return xb_utf8_show(reply->text, reply->size, text, REPLY_SHOWN);
}

void fleet_unexpected(struct fleet *fleet, const char *request, const struct server_reply *reply)
{
	char text[REPLY_SHOWN], message[200];
	const char *outcome = "protocol";

	if (reply->kind == REPLY_ERROR && !reply_begins(reply, "WRONGTYPE"))
		outcome = reply_begins(reply, "NOPERM") || reply_begins(reply, "NOAUTH")
				  ? "auth"
				  : "server-error";
	snprintf(message, sizeof(message), "%s: %s", request, fleet_reply_text(reply, text));
	fleet_lost(fleet, outcome, message);
}

void fleet_ask(struct fleet *fleet, const struct request *request, uint32_t seconds,
	       conn_answered *answered)
{
	if (fleet->reader && request_send(request, fleet->reader, seconds, answered, fleet))
		fleet_lost(fleet, "failed", xb_error_message());
}

static void on_ready(void *context)
{
	struct fleet *fleet = context;

	fleet->connected = true;
	fleet->ready = agent_clock();
	publishing_open(fleet);
	reading_begin(fleet);
}

static void on_lost(void *context, const char *outcome, const char *message)
{
	fleet_lost(context, outcome, message);
}

static void connect_reader(struct fleet *fleet)
{
	struct conn_target target = fleet_config_target(fleet->config);

	if (fleet->reader)
		return;
	fleet_enter(fleet, FLEET_CONNECTING, "%s", fleet->message);
	if (conn_open(fleet->agent, &target, on_ready, on_lost, fleet, &fleet->reader)) {
		fleet->reader = NULL;
		fleet_lost(fleet, "failed", xb_error_message());
	}
}

/* --- the store --- */

void fleet_see(struct fleet *fleet)
{
	if (fleet_view_look(&fleet->agent->paths, &fleet->view))
		log_error("fleet");
}

static int on_look(sd_event_source *source, uint64_t time, void *context)
{
	struct fleet *fleet = context;

	(void)source;
	(void)time;
	fleet->looked = agent_clock();
	clock_look(fleet);
	fleet_see(fleet);
	publishing_try(fleet);
	return 0;
}

/* The first one is seen at once: what somebody lists is to be under way soon. */
static int on_change(sd_event_source *source, const struct inotify_event *event, void *context)
{
	struct fleet *fleet = context;
	int enabled = SD_EVENT_OFF;

	(void)source;
	if (!storewatch_is_told(event))
		return 0;
	sd_event_source_get_enabled(fleet->look, &enabled);
	if (enabled == SD_EVENT_OFF) {
		sd_event_source_set_time(fleet->look, fleet->looked + LOOK_EVERY);
		sd_event_source_set_enabled(fleet->look, SD_EVENT_ONESHOT);
	}
	return 0;
}

static void begin(struct fleet *fleet)
{
	fleet->joined = true;
	fleet->complained = false;
	if (!fleet->config) {
		xb_fleet_state_remove(&fleet->agent->paths);
		return;
	}
	fleet_see(fleet);
	reporting_show(fleet);
	if (fleet->config->snapshot_url)
		loading_begin(fleet);
	else
		connect_reader(fleet);
}

static void try_to_join(struct fleet *fleet);

static void on_joined(void *context, enum joining_outcome outcome)
{
	struct fleet *fleet = context;

	fleet->joining = NULL;
	if (outcome == JOINING_DONE) {
		begin(fleet);
		return;
	}
	fleet->complained |= outcome == JOINING_FAILED;
	fleet_then(fleet, JOIN_RETRY, try_to_join);
}

static void try_to_join(struct fleet *fleet)
{
	int error =
		joining_start(fleet->agent, fleet->complained, on_joined, fleet, &fleet->joining);

	if (!error)
		return;
	if (!fleet->complained)
		log_error("fleet: cannot write what the configuration says");
	on_joined(fleet, JOINING_FAILED);
}

/* --- timers --- */

static int on_reopen(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	publishing_open(context);
	return 0;
}

static int on_republish(sd_event_source *source, uint64_t time, void *context)
{
	struct fleet *fleet = context;

	(void)source;
	(void)time;
	/* Whether it works again is known when it has. */
	fleet->silent = false;
	publishing_try(fleet);
	return 0;
}

/* The wall clock's next multiple of the time, by the clock that nobody sets: if the other one is
 * put back, the next tick must not wait until it has come there again. */
static uint64_t next_tick(void)
{
	return agent_clock() + TICK - (uint64_t)(clock_now() * 1e6) % TICK;
}

static int on_tick(sd_event_source *source, uint64_t time, void *context)
{
	struct fleet *fleet = context;

	(void)time;
	sd_event_source_set_time(source, next_tick());
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	clock_look(fleet);
	if (fleet->joined && fleet->config) {
		reporting_tick(fleet);
		snapshots_keep_lease(fleet);
		snapshots_try(fleet);
		filing_try(fleet);
	}
	return 0;
}

static int add_timer(struct fleet *fleet, sd_event_source **source, sd_event_time_handler_t handler)
{
	int error = sd_event_add_time(fleet->agent->loop, source, CLOCK_MONOTONIC, 0, 1, handler,
				      fleet);

	return error < 0 ? error : sd_event_source_set_enabled(*source, SD_EVENT_OFF);
}

static int add_sources(struct fleet *fleet)
{
	struct agent *agent = fleet->agent;
	int error = add_timer(fleet, &fleet->again, on_again);

	if (error >= 0)
		error = add_timer(fleet, &fleet->reopen, on_reopen);
	if (error >= 0)
		error = add_timer(fleet, &fleet->republish, on_republish);
	if (error >= 0)
		error = add_timer(fleet, &fleet->look, on_look);
	if (error >= 0)
		error = sd_event_add_time(agent->loop, &fleet->tick, CLOCK_MONOTONIC, next_tick(),
					  1000, on_tick, fleet);
	if (error >= 0)
		error = sd_event_add_inotify(agent->loop, &fleet->watch, agent->paths.state,
					     STOREWATCH_EVENTS, on_change, fleet);
	return error < 0 ? xb_system_error(-error, "cannot watch %s", agent->paths.state) : 0;
}

/* --- start and end --- */

static int prepare(struct fleet *fleet)
{
	const struct fleet_config *config = fleet->config;
	int error = add_sources(fleet);

	fleet->resync.chunks = fleet->replay.file = fleet->filing.chunks = -1;
	fleet->snapshots.chunks = fleet->snapshots.blooms = fleet->snapshots.answer = -1;
	fleet->resyncs = json_object();
	fleet->since = clock_now();
	clock_look(fleet);
	if (error || !config)
		return error;
	snprintf(fleet->prefix, sizeof(fleet->prefix), "xb:{%s}:", config->name);
	fleet->key = config->key;
	return 0;
}

int fleet_start(struct agent *agent, struct fleet **out)
{
	int member = joining_is_member(agent), error;
	struct fleet *fleet;

	*out = NULL;
	if (member < 0)
		return member;
	if (!agent->config->fleet && !member)
		return 0;
	fleet = calloc(1, sizeof(*fleet));
	if (!fleet)
		return xb_out_of_memory();
	fleet->agent = agent;
	fleet->config = agent->config->fleet;
	error = prepare(fleet);
	if (error) {
		fleet_stop(fleet);
		return error;
	}
	try_to_join(fleet);
	*out = fleet;
	return 0;
}

void fleet_stop(struct fleet *fleet)
{
	if (!fleet)
		return;
	joining_stop(fleet->joining);
	if (fleet->reopen)
		end_reader(fleet);
	verifying_stop(fleet);
	filing_stop(fleet);
	loading_stop(fleet);
	reporting_end(fleet);
	sd_event_source_disable_unref(fleet->again);
	sd_event_source_disable_unref(fleet->reopen);
	sd_event_source_disable_unref(fleet->republish);
	sd_event_source_disable_unref(fleet->watch);
	sd_event_source_disable_unref(fleet->look);
	sd_event_source_disable_unref(fleet->tick);
	json_decref(fleet->hosts);
	json_decref(fleet->former);
	json_decref(fleet->resyncs);
	explicit_bzero(&fleet->key, sizeof(fleet->key));
	free(fleet);
}

int fleet_reload(struct agent *agent, struct fleet **fleet)
{
	const struct fleet_config *config = agent->config->fleet;

	if (*fleet && config && (*fleet)->config &&
	    fleet_config_is_same((*fleet)->config, config)) {
		(*fleet)->config = config;
		return 0;
	}
	fleet_stop(*fleet);
	return fleet_start(agent, fleet);
}

/* --- an operator --- */

static void check_now(struct fleet *fleet)
{
	if (fleet->phase != FLEET_RESYNCING && fleet->phase != FLEET_BEGINNING &&
	    fleet->phase != FLEET_REWINDING)
		fleet_check(fleet);
}

void fleet_answer(struct fleet *fleet, const char *request, char reply[XB_CONTROL_LINE])
{
	bool accept = !strcmp(request, "accept");

	if (!fleet || !fleet->config)
		snprintf(reply, XB_CONTROL_LINE, "refused this host is in no fleet");
	else if (fleet->config->snapshot_url && !strncmp(request, "verify", 6))
		snprintf(reply, XB_CONTROL_LINE, "refused this host has no server to compare with");
	else if (!strncmp(request, "verify ", 7))
		verifying_begin(fleet, request + 7, reply);
	else if (!strncmp(request, "verifying ", 10))
		verifying_tell(fleet, request + 10, reply);
	else if (!accept && strcmp(request, "resync") != 0)
		snprintf(reply, XB_CONTROL_LINE, "refused unknown request");
	else if (accept && fleet->phase != FLEET_HELD)
		snprintf(reply, XB_CONTROL_LINE, "refused nothing waits to be accepted");
	else if (!fleet->connected && !(fleet->config->snapshot_url && fleet->joined))
		snprintf(reply, XB_CONTROL_LINE, "refused the fleet's server is not connected");
	else {
		fleet->resync.wanted = true;
		fleet->resync.accept = accept;
		snprintf(reply, XB_CONTROL_LINE, "ok %s", fleet->config->name);
		check_now(fleet);
	}
}
