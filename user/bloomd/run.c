/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/patience.h"
#include "bloomd/base/agent.h"
#include "bloomd/api/api.h"
#include "bloomd/configfile.h"
#include "bloomd/control.h"
#include "bloomd/crowdsec/crowdsec.h"
#include "bloomd/events/events.h"
#include "bloomd/expiry.h"
#include "bloomd/feeds/feeds.h"
#include "bloomd/fleet/fleet.h"
#include "bloomd/http/http.h"
#include "bloomd/known.h"
#include "bloomd/limits/offenders.h"
#include "bloomd/base/log.h"
#include "bloomd/peers.h"
#include "bloomd/postfix/postfix.h"
#include "engine/carry.h"
#include "engine/session.h"

/* How long a write may rely on what an earlier one has seen of the interfaces. */
#define REPAIR_SECONDS 10

#define INSTANCE_LOCK "bloomd.lock" /* in the state directory */

struct running {
	struct agent agent;
	const struct settings *settings;
	struct config *config;
	struct expiry *expiry;
	struct api *api;
	struct postfix *postfix;
	struct feeds *feeds;
	struct crowdsec *crowdsec;
	struct fleet *fleet;
	struct control *control;
	struct http *http;
	struct events *events;
	struct peers *peers;
	struct known *known;
	struct offenders *offenders;
};

static int tell_reloading(void)
{
	return sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)agent_clock());
}

/* A configuration that is wrong changes nothing. */
static int reload(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct running *running = context;
	struct config *config;

	(void)source;
	(void)info;
	tell_reloading();
	if (config_read(running->settings->file, running->settings->needed, &config)) {
		log_error("the configuration stays as it was");
	} else {
		struct config *former = running->config;

		running->config = config;
		running->agent.config = config;
		feeds_stand_back(running->feeds);
		if (crowdsec_reload(&running->agent, &running->crowdsec))
			log_error("crowdsec");
		feeds_reload(running->feeds);
		if (fleet_reload(&running->agent, &running->fleet))
			log_error("fleet");
		if (api_reload(running->api))
			log_error("the sockets");
		if (postfix_reload(running->postfix))
			log_error("the sockets for Postfix");
		if (http_reload(&running->agent, &running->http))
			log_error("the web server stays as it was");
		peers_reload(running->peers);
		config_free(former);
		log_info("reloaded");
	}
	sd_notify(0, "READY=1");
	return 0;
}

/* Of the signals that the loop reads. */
static int block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &signals, NULL) ? -errno : 0;
}

static int make_loop(struct running *running)
{
	sd_event *loop = NULL;
	int error = block_signals();

	if (error >= 0)
		error = sd_event_new(&loop);
	running->agent.loop = loop;
	if (error >= 0)
		error = sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL);
	if (error >= 0)
		error = sd_event_add_signal(loop, NULL, SIGINT, NULL, NULL);
	if (error >= 0)
		error = sd_event_add_signal(loop, NULL, SIGHUP, reload, running);
	if (error >= 0)
		error = sd_event_set_watchdog(loop, true);
	return error < 0 ? xb_system_error(-error, "cannot make the event loop") : 0;
}

/* The words behind those in front of them, or NULL: the request begins with others. */
static const char *behind(const char *request, const char *front)
{
	size_t size = strlen(front);

	if (strncmp(request, front, size) != 0 || (request[size] && request[size] != ' '))
		return NULL;
	return request + size + (request[size] == ' ');
}

static void update_feeds(struct running *running, const char *name, char reply[XB_CONTROL_LINE])
{
	unsigned int count = feeds_update(running->feeds, *name ? name : NULL) +
			     crowdsec_update(running->crowdsec, *name ? name : NULL);

	if (count || !*name)
		snprintf(reply, XB_CONTROL_LINE, "ok %u", count);
	else
		snprintf(reply, XB_CONTROL_LINE, "refused bloomd has no feed of this name: %.100s",
			 name);
}

/* "feeds update", "feeds update NAME", and "fleet" with what fleet_answer() takes. */
static void answer_control(void *context, char *request, char reply[XB_CONTROL_LINE])
{
	struct running *running = context;
	const char *words = behind(request, "feeds update");

	if (words) {
		update_feeds(running, words, reply);
		return;
	}
	words = behind(request, "fleet");
	if (words)
		fleet_answer(running->fleet, words, reply);
	else
		snprintf(reply, XB_CONTROL_LINE, "refused unknown request");
}

static void on_peers(void *context)
{
	const struct running *running = context;

	events_notice(running->events);
}

/* A process of one that was killed holds the lock for a moment longer. */
#define LOCK_TRIES 50
#define LOCK_PAUSE 20000 /* us */

/* Two of them would fetch each feed twice, and wait for each other. */
static int be_alone(struct running *running)
{
	char holder[256];
	const char *state = running->settings->paths.state;

	for (int i = 0; i < LOCK_TRIES; i++) {
		running->agent.lock = xb_try_lock(state, INSTANCE_LOCK);
		if (running->agent.lock != -EWOULDBLOCK)
			break;
		usleep(LOCK_PAUSE);
	}
	if (running->agent.lock != -EWOULDBLOCK)
		return running->agent.lock < 0 ? running->agent.lock : 0;
	if (!xb_lock_holder(state, INSTANCE_LOCK, holder, sizeof(holder)))
		return xb_system_error(0, "bloomd runs already for %s", state);
	return xb_system_error(0, "bloomd runs already for %s: %s", state, holder);
}

/* A store that cannot be used, such as that of a newer version, is told at once. */
static int find_store(const struct settings *settings)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_open(settings->paths.state, XB_STORE_CREATE, &store);

	if (error)
		return error;
	error = xb_store_read(store, &txn);
	if (!error)
		xb_txn_abort(txn);
	xb_store_close(store);
	return error;
}

static int start(struct running *running)
{
	int error =
		config_read(running->settings->file, running->settings->needed, &running->config);

	running->agent.config = running->config;
	if (!error)
		error = find_store(running->settings);
	/* From here on nothing waits for others: what is busy is tried again. */
	xb_patience_set(0);
	if (!error)
		error = be_alone(running);
	if (!error)
		error = make_loop(running);
	if (!error)
		error = expiry_start(&running->agent, &running->expiry);
	if (!error)
		error = api_start(&running->agent, &running->api);
	if (!error)
		error = postfix_start(&running->agent, &running->postfix);
	/* In the order of a reload. */
	if (!error)
		error = crowdsec_start(&running->agent, &running->crowdsec);
	if (!error)
		error = feeds_start(&running->agent, &running->feeds);
	if (!error)
		error = fleet_start(&running->agent, &running->fleet);
	if (!error)
		error = control_start(&running->agent, answer_control, running, &running->control);
	if (!error)
		error = http_start(&running->agent, &running->http);
	if (!error)
		error = events_start(&running->agent, &running->events);
	if (!error)
		error = peers_start(&running->agent, on_peers, running, &running->peers);
	if (!error)
		error = known_start(&running->agent, &running->known);
	if (!error)
		error = offenders_start(&running->agent, &running->offenders);
	return error;
}

static void stop(struct running *running)
{
	offenders_stop(running->offenders);
	known_stop(running->known);
	peers_stop(running->peers);
	events_stop(running->events);
	control_stop(running->control);
	fleet_stop(running->fleet);
	crowdsec_stop(running->crowdsec);
	feeds_stop(running->feeds);
	postfix_stop(running->postfix);
	api_stop(running->api);
	http_stop(running->http);
	expiry_stop(running->expiry);
	sd_event_unref(running->agent.loop);
	config_free(running->config);
	xb_session_end();
	xb_written_free(&running->agent.written);
	xb_unlock(running->agent.lock);
}

int run(const struct settings *settings)
{
	struct running running = {.agent = {.paths = settings->paths, .lock = -1},
				  .settings = settings};
	int error;

	xb_session_begin(REPAIR_SECONDS);
	xb_carry_begin(&settings->paths);
	error = start(&running);
	if (!error) {
		sd_notify(0, "READY=1");
		log_info("ready");
		error = sd_event_loop(running.agent.loop);
		if (error < 0)
			xb_system_error(-error, "the event loop failed");
		sd_notify(0, "STOPPING=1");
	}
	stop(&running);
	return error < 0 ? error : 0;
}
