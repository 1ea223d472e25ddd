/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the fleet's state is put on the server as a snapshot, and by whom: with each new log, which
 * goes on from it, and now and then, so that the log can be trimmed. Only the host that has the
 * lease makes one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/fleet/parts.h"

#define LEASE	     60000 /* ms */
#define RENEW	     (15 * FLEET_SECOND)
#define FIRST	     30 /* seconds: until the first look, at most */
#define RETRY	     (15 * FLEET_SECOND)
#define CHANGES_MOST 100000 /* of the log, until there is a new one */

/* --- its end --- */

static void free_manifest(struct manifest **manifest)
{
	if (*manifest)
		manifest_free(*manifest);
	free(*manifest);
	*manifest = NULL;
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void snapshots_stop(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	sd_event_source_disable_unref(snapshots->worker);
	snapshots->worker = NULL;
	if (snapshots->child > 0) {
		kill(snapshots->child, SIGKILL);
		waitpid(snapshots->child, NULL, 0);
	}
	snapshots->child = 0;
	snapshots->busy = false;
	free_manifest(&snapshots->former);
	free_manifest(&snapshots->manifest);
	free(snapshots->entry);
	snapshots->entry = NULL;
	close_file(&snapshots->chunks);
	close_file(&snapshots->blooms);
	close_file(&snapshots->answer);
}

void snapshots_tell(struct fleet *fleet, const struct request *request, link_answered *answered)
{
	if (fleet->writer && request_send(request, fleet->writer, 60, answered, fleet))
		publishing_fail(fleet);
}

void snapshots_ignore(void *context, const struct server_reply *reply)
{
	(void)context;
	(void)reply;
}

void snapshots_give_back(struct fleet *fleet)
{
	struct request request = {0};

	request_words(&request, "DEL %slease", fleet->prefix);
	snapshots_tell(fleet, &request, snapshots_ignore);
}

void snapshots_fail(struct fleet *fleet, const char *why)
{
	bool begins = fleet->snapshots.begins;
	char text[256];

	snprintf(text, sizeof(text), "%s", why);
	snapshots_stop(fleet);
	fleet->snapshots.due = agent_clock() + RETRY;
	if (begins) {
		if (fleet->phase != FLEET_FAILED)
			xb_warning("fleet: cannot begin a log: %s", text);
		fleet_enter(fleet, FLEET_FAILED, "cannot begin a log: %s", text);
		fleet_then(fleet, RETRY, reading_check);
	} else if (!fleet->snapshots.complained) {
		xb_warning("fleet: cannot make a snapshot: %s", text);
		fleet->snapshots.complained = true;
	}
}

void snapshots_fail_reply(struct fleet *fleet, const struct server_reply *reply)
{
	char text[200] = "the server answers with another kind than asked for";

	if (reply->kind == REPLY_ERROR)
		xb_utf8_show(reply->text, reply->size, text, sizeof(text));
	snapshots_fail(fleet, text);
}

bool snapshots_is_ok(const struct server_reply *reply)
{
	return reply->kind == REPLY_STATUS && reply_begins(reply, "OK");
}

/* When the next one is due, if the last one was made so many seconds ago. */
static void plan(struct fleet *fleet, uint64_t age)
{
	uint64_t every = fleet->config->snapshot_every;
	uint64_t left = age < every ? every - age : 0;

	fleet->snapshots.due = agent_clock() + left * FLEET_SECOND +
			       fleet_random() % (FLEET_SECOND * (every / 8 + 1));
}

void snapshots_made(struct fleet *fleet)
{
	snapshots_give_back(fleet);
	snapshots_stop(fleet);
	fleet->snapshots.complained = false;
	fleet->snapshots.changes = 0;
	plan(fleet, 0);
}

/* --- the lease --- */

void snapshots_keep_lease(struct fleet *fleet)
{
	struct request request = {0};

	if (agent_clock() < fleet->snapshots.leased + RENEW)
		return;
	fleet->snapshots.leased = agent_clock();
	request_words(&request, "PEXPIRE %slease %d", fleet->prefix, LEASE);
	snapshots_tell(fleet, &request, snapshots_ignore);
}

/* Of the former one, which counts only if this host's key made it. */
static void on_former(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint64_t now = (uint64_t)fleet_time(), age = 0;

	if (!snapshots->busy || snapshots->child || snapshots->manifest)
		return;
	free_manifest(&snapshots->former);
	if (reply->kind == REPLY_STRING) {
		snapshots->former = calloc(1, sizeof(*snapshots->former));
		if (snapshots->former &&
		    manifest_read(reply->text, reply->size, &fleet->key, snapshots->former))
			free_manifest(&snapshots->former);
	} else if (reply->kind != REPLY_NIL) {
		snapshots_fail_reply(fleet, reply);
		return;
	}
	if (snapshots->former && snapshots->former->time / 1000 < now)
		age = now - snapshots->former->time / 1000;
	if (!snapshots->begins && snapshots->former && age < fleet->config->snapshot_every &&
	    snapshots->changes < CHANGES_MOST &&
	    !memcmp(snapshots->former->epoch, fleet->view.fleet.epoch, XB_FLEET_ID)) {
		snapshots_give_back(fleet);
		snapshots_stop(fleet);
		plan(fleet, age);
		return;
	}
	snapshotsend_start(fleet);
}

static void on_lease(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct request request = {0};

	if (!snapshots->busy)
		return;
	if (reply->kind == REPLY_NIL) {
		bool begins = snapshots->begins;

		snapshots_stop(fleet);
		snapshots->due = agent_clock() + RETRY;
		if (begins) {
			fleet_enter(fleet, FLEET_WAITING, "another host begins a log");
			fleet_then(fleet, FLEET_SECOND, reading_check);
		}
		return;
	}
	if (!snapshots_is_ok(reply)) {
		snapshots_fail_reply(fleet, reply);
		return;
	}
	snapshots->leased = agent_clock();
	request_words(&request, "GET %ssnapshot", fleet->prefix);
	snapshots_tell(fleet, &request, on_former);
}

static void start(struct fleet *fleet, bool begins)
{
	struct request request = {0};
	char id[ID_TEXT];

	snapshots_stop(fleet);
	fleet->snapshots.busy = true;
	fleet->snapshots.begins = begins;
	request_words(&request, "SET %slease %s NX PX %d", fleet->prefix,
		      id_format(fleet->view.fleet.host, id), LEASE);
	snapshots_tell(fleet, &request, on_lease);
}

void snapshots_begin(struct fleet *fleet)
{
	if (!fleet->writable) {
		fleet_enter(fleet, FLEET_WAITING, "no connection to begin a log");
		fleet_then(fleet, FLEET_SECOND, reading_check);
		return;
	}
	fleet_enter(fleet, FLEET_BEGINNING, NULL);
	start(fleet, true);
}

void snapshots_try(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint32_t first =
		fleet->config->snapshot_every < FIRST ? fleet->config->snapshot_every : FIRST;

	if (!snapshots->due)
		snapshots->due = agent_clock() + first * FLEET_SECOND / 2 +
				 fleet_random() % (first * FLEET_SECOND / 2);
	if (snapshots->busy || !fleet->writable || fleet->append.busy || fleet->view.waiting ||
	    (agent_clock() < snapshots->due && snapshots->changes < CHANGES_MOST) ||
	    !reading_is_caught_up(fleet) || !fleet_has_all(fleet))
		return;
	start(fleet, false);
}
