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
#include "base/faultpoint.h"
#include "base/text.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"

/* Renewed meanwhile; others wait so long if its host dies. */
#define LEASE	     (30 * FLEET_SECOND)
#define MARGIN	     (5 * FLEET_SECOND) /* that a lease has left when its work is done */
#define RENEW	     (5 * FLEET_SECOND)
#define FIRST	     30 /* seconds: until the first look, at most */
#define RETRY	     (15 * FLEET_SECOND)
#define RETRY_MOST   (900 * FLEET_SECOND)
#define HURRY	     (10 * FLEET_SECOND)  /* not all hosts at once */
#define AHEAD	     60			  /* seconds: a later time is of a clock that is wrong */
#define WRONG_CLOCK  (120 * FLEET_SECOND) /* later than other hosts */
#define STEPPED	     (300 * FLEET_SECOND) /* that a host leaves a beginning to others */
#define LEFT_AGAIN   (5 * FLEET_SECOND)	  /* then it looks whether one of them has begun */
#define CHANGES_MOST 100000		  /* of the log, until there is a new one */

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
	snapshots->leased = 0;
	snapshots->busy = snapshots->asked = snapshots->sent = false;
	free_manifest(&snapshots->former);
	free_manifest(&snapshots->manifest);
	free(snapshots->entry);
	snapshots->entry = NULL;
	close_file(&snapshots->chunks);
	close_file(&snapshots->blooms);
	close_file(&snapshots->answer);
}

void snapshots_tell(struct fleet *fleet, const struct request *request, conn_answered *answered)
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

	if (!snapshots_has_lease(fleet))
		return;
	request_words(&request, "DEL %slease", fleet->prefix);
	snapshots_tell(fleet, &request, snapshots_ignore);
}

void snapshots_fail(struct fleet *fleet, const char *why)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	bool begins = snapshots->begins, first = !*snapshots->why;
	uint64_t delay = delay_doubled(RETRY, ++snapshots->failures, RETRY_MOST);
	char text[sizeof(snapshots->why)];

	snprintf(text, sizeof(text), "%s", why);
	snapshots_give_back(fleet);
	snapshots_stop(fleet);
	snapshots->due = agent_clock() + delay_spread(delay, 2, fleet_random());
	if (begins) {
		fleet_fail(fleet, RETRY, "cannot begin a log: %s", text);
		return;
	}
	if (first)
		xb_warning("fleet: cannot make a snapshot: %s", text);
	snprintf(snapshots->why, sizeof(snapshots->why), "%s", text);
	reporting_save(fleet);
}

void snapshots_why(const struct server_reply *reply, char why[200])
{
	snprintf(why, 200, "the server answers with another kind than asked for");
	if (reply->kind == REPLY_ERROR)
		xb_utf8_show(reply->text, reply->size, why, 200);
}

void snapshots_fail_reply(struct fleet *fleet, const struct server_reply *reply)
{
	char why[200];

	snapshots_why(reply, why);
	snapshots_fail(fleet, why);
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

/* This one is the newest: what has changed is counted from here. */
void snapshots_know(struct fleet_snapshots *snapshots, const struct manifest *manifest)
{
	if (!memcmp(snapshots->known, manifest->id, XB_FLEET_ID))
		return;
	memcpy(snapshots->known, manifest->id, XB_FLEET_ID);
	snapshots->known_position = manifest->position;
	snapshots->changes = 0;
	snapshots->hurries = false;
}

void snapshots_made(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	if (*snapshots->why)
		log_info("fleet: a snapshot could be made again");
	*snapshots->why = '\0';
	snapshots->unreadable = false;
	snapshots->failures = 0;
	snapshots_know(snapshots, snapshots->manifest);
	snapshots_give_back(fleet);
	snapshots_stop(fleet);
	plan(fleet, 0);
	filing_try(fleet);
}

/* --- the lease --- */

bool snapshots_has_lease(const struct fleet *fleet)
{
	return agent_clock() + MARGIN < fleet->snapshots.leased;
}

bool snapshots_is_holder(const struct fleet *fleet, const struct server_reply *reply)
{
	char id[ID_TEXT];

	id_format(fleet->view.fleet.host, id);
	return reply->kind == REPLY_STRING && reply->size == strlen(id) &&
	       !memcmp(reply->text, id, reply->size);
}

/* It counts from when it was asked for, if it was still this host's when the answer came. */
static void on_renewed(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	if (reply->kind == REPLY_NUMBER && reply->number == 1 && agent_clock() < snapshots->leased)
		snapshots->leased = snapshots->renewed + LEASE;
}

void snapshots_keep_lease(struct fleet *fleet)
{
	struct request request = {0};

	if (agent_clock() < fleet->snapshots.renewed + RENEW || !snapshots_has_lease(fleet))
		return;
	/* A change of what is watched, also by this host, ends the transaction. */
	if (fleet->append.busy && fleet->append.manifest)
		return;
	fleet->snapshots.renewed = agent_clock();
	request_words(&request, "PEXPIRE %slease %llu", fleet->prefix, LEASE / 1000);
	snapshots_tell(fleet, &request, on_renewed);
}

/* Whether the log goes on from a snapshot there. Somebody may have trimmed it. */
static bool leads_on(const struct fleet *fleet, uint64_t position)
{
	return fleet->snapshots.log_first <= position + 1;
}

/* Whether it is too early for another one. The count of changes is this host's, which may have
 * missed that somebody made one. */
static bool is_fresh(struct fleet *fleet, const struct manifest *former, uint64_t *age)
{
	uint64_t now = (uint64_t)clock_now(), made = former->time / 1000;

	*age = now > made ? now - made : 0;
	snapshots_know(&fleet->snapshots, former);
	return *age < fleet->config->snapshot_every && made < now + AHEAD &&
	       fleet->snapshots.changes < CHANGES_MOST && leads_on(fleet, former->position) &&
	       !memcmp(former->epoch, fleet->view.fleet.epoch, XB_FLEET_ID);
}

/* Of the former one, which counts only if this host's key made it. */
static void on_former(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint64_t age = 0;

	if (!snapshots->busy || snapshots->child || snapshots->manifest)
		return;
	snapshots->asked = false;
	free_manifest(&snapshots->former);
	if (reply->kind == REPLY_STRING) {
		snapshots->former = calloc(1, sizeof(*snapshots->former));
		if (snapshots->former &&
		    manifest_read(reply->text, reply->size, &fleet->key, snapshots->former))
			free_manifest(&snapshots->former);
	} else if (reply->kind != REPLY_NIL && !reply_begins(reply, "WRONGTYPE")) {
		/* A key of another type is replaced. */
		snapshots_fail_reply(fleet, reply);
		return;
	}
	if (!snapshots->begins && snapshots->former && is_fresh(fleet, snapshots->former, &age)) {
		snapshots_give_back(fleet);
		snapshots_stop(fleet);
		plan(fleet, age);
		return;
	}
	snapshotsend_start(fleet);
}

static void leave_to_other(struct fleet *fleet)
{
	bool begins = fleet->snapshots.begins;

	snapshots_stop(fleet);
	fleet->snapshots.due = agent_clock() + RETRY;
	if (begins) {
		fleet_enter(fleet, FLEET_WAITING, "another host begins a log");
		fleet_then(fleet, FLEET_SECOND, reading_check);
	}
}

/* What was there before: nothing, if this host has the lease now; or this host, if a bloomd that is
 * gone has left it. */
static void on_lease(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct request former = {0}, renew = {0};

	if (!snapshots->busy)
		return;
	if (reply->kind == REPLY_STRING && !snapshots_is_holder(fleet, reply)) {
		leave_to_other(fleet);
		return;
	}
	if (reply->kind != REPLY_NIL && reply->kind != REPLY_STRING) {
		snapshots_fail_reply(fleet, reply);
		return;
	}
	snapshots->leased = snapshots->renewed + LEASE;
	if (reply->kind == REPLY_STRING) {
		request_words(&renew, "PEXPIRE %slease %llu", fleet->prefix, LEASE / 1000);
		snapshots_tell(fleet, &renew, snapshots_ignore);
	}
	if (snapshots->unreadable) {
		snapshotsend_start(fleet);
		return;
	}
	snapshots->asked = true;
	request_words(&former, "GET %ssnapshot", fleet->prefix);
	snapshots_tell(fleet, &former, on_former);
}

/* What was not written by a host of the fleet is replaced, however large it is. */
void snapshots_lost(struct fleet *fleet, const char *outcome)
{
	if (!fleet->snapshots.asked || strcmp(outcome, "too-large") != 0)
		return;
	fleet_refuses(fleet, "snapshot");
	fleet->snapshots.unreadable = true;
}

static void start(struct fleet *fleet, bool begins)
{
	struct request request = {0};
	char id[ID_TEXT];

	snapshots_stop(fleet);
	if (begins)
		xb_fault("fleet-begins");
	fleet->snapshots.busy = true;
	fleet->snapshots.begins = begins;
	fleet->snapshots.leased = 0;
	fleet->snapshots.renewed = agent_clock();
	request_words(&request, "SET %slease %s NX GET PX %llu", fleet->prefix,
		      id_format(fleet->view.fleet.host, id), LEASE / 1000);
	snapshots_tell(fleet, &request, on_lease);
}

/* By a clock that is or was ahead, entries have expired that others still have: they would lose
 * them to a log that begins with this host's state. So it leaves that to others for a while. NULL:
 * it does not. */
static const char *why_others_begin(struct fleet *fleet)
{
	uint64_t now = agent_clock();

	clock_look(fleet);
	if (!fleet->snapshots.wanted)
		fleet->snapshots.wanted = now;
	if (fleet->resync.expired && now < fleet->resync.stepped + STEPPED)
		return "was set back";
	if (!fleet->timed && now < fleet->snapshots.wanted + WRONG_CLOCK)
		return "is not known to agree with that of the server";
	return NULL;
}

void snapshots_begin(struct fleet *fleet)
{
	const char *reason;

	if (!fleet->writable) {
		fleet_enter(fleet, FLEET_WAITING, "no connection to begin a log");
		fleet_then(fleet, FLEET_SECOND, reading_check);
		return;
	}
	reason = why_others_begin(fleet);
	if (reason) {
		fleet_enter(
			fleet, *fleet->bad ? FLEET_FAILED : FLEET_WAITING,
			"the clock of this host %s, so it waits for another host to begin a log",
			reason);
		fleet_then(fleet, LEFT_AGAIN, reading_check);
		return;
	}
	fleet_enter(fleet, FLEET_BEGINNING, NULL);
	start(fleet, true);
}

static bool is_due(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint64_t now = agent_clock(), soon = now + fleet_random() % HURRY;
	uint32_t first =
		fleet->config->snapshot_every < FIRST ? fleet->config->snapshot_every : FIRST;

	if (!snapshots->due)
		snapshots->due = now + first * FLEET_SECOND / 2 +
				 fleet_random() % (first * FLEET_SECOND / 2);
	if (!snapshots->hurries &&
	    (snapshots->changes >= CHANGES_MOST ||
	     (snapshots->known_position && !leads_on(fleet, snapshots->known_position)))) {
		snapshots->hurries = true;
		snapshots->due = delay_least(snapshots->due, soon);
	}
	return now >= snapshots->due + (fleet->timed ? 0 : WRONG_CLOCK);
}

/* By a clock that is ahead, entries have expired that others still have. Such a host leaves it to
 * others to make a snapshot, for a while, and until it has those entries again it makes none. */
static bool may_make(const struct fleet *fleet)
{
	return fleet->writable && !fleet->resync.expired && fleet_has_all(fleet);
}

void snapshots_try(struct fleet *fleet)
{
	clock_look(fleet);
	if (fleet->snapshots.busy)
		snapshots_keep_lease(fleet);
	else if (may_make(fleet) && !fleet->append.busy && !fleet->view.waiting && is_due(fleet) &&
		 reading_is_caught_up(fleet))
		start(fleet, false);
}
