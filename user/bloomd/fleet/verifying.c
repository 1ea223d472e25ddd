/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares this host with the newest snapshot when an operator asks for it. A process of its own
 * compares, and says which parts of the snapshot it needs; the loop fetches them, by a connection
 * that nothing else waits for. Nothing of this changes the store.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/verifyreport.h"
#include "engine/fleetstate.h"

#define PATIENCE (10 * FLEET_SECOND) /* until this host has read on to the snapshot */
#define LOOK	 200000		     /* us: between two looks whether it has */
#define FORGOTTEN                                                                                  \
	(5 * FLEET_SECOND) /* nobody asks how far it is: another request may take its place */

/* The child leaves here, for both processes, how it ended. */
struct verify_end {
	bool finished;	 /* the file has it */
	bool unfinished; /* parts are wanted */
	char message[256];
};

/* --- its end --- */

static void release(struct fleet_verifying *verifying)
{
	conn_close(verifying->conn);
	verifying->conn = NULL;
	sd_event_source_disable_unref(verifying->worker);
	sd_event_source_disable_unref(verifying->look);
	verifying->worker = verifying->look = NULL;
	if (verifying->child > 0) {
		kill(verifying->child, SIGKILL);
		waitpid(verifying->child, NULL, 0);
	}
	verifying->child = 0;
	if (verifying->end)
		munmap(verifying->end, sizeof(*verifying->end));
	verifying->end = NULL;
	parts_free(&verifying->parts);
	if (verifying->manifest)
		manifest_free(verifying->manifest);
	free(verifying->manifest);
	verifying->manifest = NULL;
}

static void fail(struct fleet *fleet, const char *why)
{
	struct fleet_verifying *verifying = &fleet->verifying;
	char text[sizeof(verifying->why)];

	snprintf(text, sizeof(text), "%s", why);
	xb_utf8_clean(text);
	strcpy(verifying->why, text);
	verifying->state = VERIFY_FAILED;
	release(verifying);
}

void verifying_stop(struct fleet *fleet)
{
	if (fleet->verifying.state == VERIFY_BUSY)
		fail(fleet, "bloomd was ended, or configured anew");
	release(&fleet->verifying);
}

static void fail_reply(struct fleet *fleet, const struct server_reply *reply)
{
	char text[200] = "the server answers with another kind than asked for";

	if (reply->kind == REPLY_ERROR)
		xb_utf8_show(reply->text, reply->size, text, sizeof(text));
	fail(fleet, text);
}

/* --- comparing --- */

static json_t *report_of(const struct fleet *fleet, const struct comparison *comparison)
{
	json_t *report = verifyreport(&fleet->verifying.parts, comparison);

	json_object_set_new(report, "token", json_integer(fleet->verifying.token));
	json_object_set_new(report, "fleet", json_string(fleet->config->name));
	return report;
}

static int look_at_store(const struct fleet *fleet, struct comparison *comparison)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	if (!error)
		error = compare_with_snapshot(txn, (uint32_t)time(NULL), &fleet->verifying.parts,
					      &fleet->key, comparison);
	xb_store_end_reading(store, txn);
	return error;
}

static int compare(const struct fleet *fleet, struct comparison *comparison)
{
	json_t *report;
	int error = look_at_store(fleet, comparison);

	if (error || comparison->unfinished)
		return error;
	report = report_of(fleet, comparison);
	error = report ? xb_fleet_verified_write(&fleet->agent->paths, report) : -EIO;
	json_decref(report);
	return error;
}

static _Noreturn void work(const struct fleet *fleet)
{
	struct verify_end *end = fleet->verifying.end;
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int error = comparison ? 0 : xb_out_of_memory();

	if (!error) {
		comparison->limit = fleet->verifying.limit;
		error = compare(fleet, comparison);
	}
	if (error)
		snprintf(end->message, sizeof(end->message), "%s", xb_error_message());
	else if (comparison->unfinished)
		end->unfinished = true;
	else
		end->finished = true;
	_exit(0);
}

static void fetch(struct fleet *fleet);

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fleet *fleet = context;
	struct fleet_verifying *verifying = &fleet->verifying;
	const struct verify_end *end = verifying->end;

	(void)source;
	(void)info;
	verifying->worker = sd_event_source_disable_unref(verifying->worker);
	verifying->child = 0;
	if (end->finished) {
		verifying->state = VERIFY_DONE;
		release(verifying);
	} else if (end->unfinished) {
		verifying->total = parts_wanted(&verifying->parts);
		if (parts_check_room(&verifying->parts, verifying->total - verifying->done))
			fail(fleet, xb_error_message());
		else
			fetch(fleet);
	} else {
		fail(fleet, *end->message ? end->message : "its process was ended");
	}
	return 0;
}

static void start_work(struct fleet *fleet)
{
	struct fleet_verifying *verifying = &fleet->verifying;

	memset(verifying->end, 0, sizeof(*verifying->end));
	verifying->child = agent_fork(fleet->agent);
	if (!verifying->child)
		work(fleet);
	if (verifying->child < 0 ||
	    sd_event_add_child(fleet->agent->loop, &verifying->worker, verifying->child, WEXITED,
			       on_worked, fleet) < 0)
		fail(fleet, "no process can be started");
}

/* --- fetching --- */

static void ask(struct fleet *fleet, const struct request *request, conn_answered *answered)
{
	if (request_send(request, fleet->verifying.conn, 60, answered, fleet))
		fail(fleet, xb_error_message());
}

static void on_part(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_verifying *verifying = &fleet->verifying;
	const struct snapshot_part *part = &verifying->part;

	if (reply->kind == REPLY_NIL)
		fail(fleet, "a part of the snapshot is not there: perhaps a newer one has replaced "
			    "it; try again");
	else if (reply->kind != REPLY_STRING)
		fail_reply(fleet, reply);
	else if (reply->size != part->size)
		fail(fleet, "a part of the snapshot has another size than it says");
	else if (parts_put(&verifying->parts, part, reply->text))
		fail(fleet, xb_error_message());
	else {
		verifying->done += part->size;
		fetch(fleet);
	}
}

static void fetch(struct fleet *fleet)
{
	struct fleet_verifying *verifying = &fleet->verifying;
	struct snapshot_part *part = &verifying->part;
	struct request request = {0};
	char id[ID_TEXT];

	if (!parts_next(&verifying->parts, part)) {
		start_work(fleet);
		return;
	}
	request_words(&request, "GET %s%s:%s:%zu", fleet->prefix,
		      part->kind == PART_CHUNK ? "chunk" : "bloom",
		      id_format(verifying->manifest->id, id), part->place);
	ask(fleet, &request, on_part);
}

/* --- the manifest --- */

static bool is_there(const struct fleet *fleet)
{
	const struct manifest *manifest = fleet->verifying.manifest;
	const struct xb_fleet *here = &fleet->view.fleet;

	return !memcmp(manifest->epoch, here->epoch, XB_FLEET_ID) &&
	       here->position >= manifest->position;
}

/* What a snapshot has that was made a moment ago, this host may not have read yet. */
static int on_look(sd_event_source *source, uint64_t now, void *context)
{
	struct fleet *fleet = context;
	struct fleet_verifying *verifying = &fleet->verifying;

	(void)source;
	verifying->look = sd_event_source_disable_unref(verifying->look);
	if (is_there(fleet) || fleet->phase != FLEET_READING || now > verifying->patience)
		start_work(fleet);
	else if (sd_event_add_time_relative(fleet->agent->loop, &verifying->look, CLOCK_MONOTONIC,
					    LOOK, 0, on_look, fleet) < 0)
		fail(fleet, "out of memory");
	return 0;
}

static void prepare(struct fleet *fleet)
{
	struct fleet_verifying *verifying = &fleet->verifying;

	if (parts_make(&verifying->parts, verifying->manifest, fleet->agent->paths.state)) {
		fail(fleet, xb_error_message());
		return;
	}
	verifying->end = mmap(NULL, sizeof(*verifying->end), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (verifying->end == MAP_FAILED) {
		verifying->end = NULL;
		fail(fleet, "out of memory");
		return;
	}
	verifying->patience = agent_clock() + PATIENCE;
	on_look(NULL, agent_clock(), fleet);
}

static void on_manifest(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_verifying *verifying = &fleet->verifying;

	if (reply->kind == REPLY_NIL) {
		fail(fleet, "the fleet has no snapshot yet");
		return;
	}
	if (reply->kind != REPLY_STRING) {
		fail_reply(fleet, reply);
		return;
	}
	verifying->manifest = calloc(1, sizeof(*verifying->manifest));
	if (!verifying->manifest)
		fail(fleet, "out of memory");
	else if (manifest_read(reply->text, reply->size, &fleet->key, verifying->manifest))
		fail(fleet, xb_error_message());
	else
		prepare(fleet);
}

/* --- the connection --- */

static void on_ready(void *context)
{
	struct fleet *fleet = context;
	struct request request = {0};

	request_words(&request, "GET %ssnapshot", fleet->prefix);
	ask(fleet, &request, on_manifest);
}

static void on_lost(void *context, const char *outcome, const char *message)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", outcome, message);
	fail(context, text);
}

static void start(struct fleet *fleet, size_t limit)
{
	struct fleet_verifying *verifying = &fleet->verifying;
	struct conn_target target = fleet_config_target(fleet->config);
	uint32_t token = verifying->token;

	release(verifying);
	*verifying = (struct fleet_verifying){.state = VERIFY_BUSY,
					      .token = token + 1 ?: 1,
					      .limit = limit,
					      .asked = agent_clock()};
	if (!token)
		verifying->token = fleet_random() >> 1 ?: 1;
	if (conn_open(fleet->agent, &target, on_ready, on_lost, fleet, &verifying->conn)) {
		verifying->conn = NULL;
		fail(fleet, xb_error_message());
	}
}

/* --- an operator --- */

void verifying_begin(struct fleet *fleet, const char *limit, char reply[XB_CONTROL_LINE])
{
	const struct fleet_verifying *verifying = &fleet->verifying;
	char *end;
	unsigned long number = strtoul(limit, &end, 10);

	if (*end || end == limit || number > XB_FLEET_DIFFERENCES)
		snprintf(reply, XB_CONTROL_LINE, "refused unknown request");
	else if (verifying->state == VERIFY_BUSY && agent_clock() < verifying->asked + FORGOTTEN)
		snprintf(reply, XB_CONTROL_LINE, "refused another one verifies already");
	else {
		start(fleet, number);
		snprintf(reply, XB_CONTROL_LINE, "ok %" PRIu32, verifying->token);
	}
}

void verifying_tell(struct fleet *fleet, const char *token, char reply[XB_CONTROL_LINE])
{
	struct fleet_verifying *verifying = &fleet->verifying;

	if (!verifying->token || strtoul(token, NULL, 10) != verifying->token) {
		snprintf(reply, XB_CONTROL_LINE, "refused it was given up for another one");
		return;
	}
	verifying->asked = agent_clock();
	if (verifying->state == VERIFY_DONE)
		snprintf(reply, XB_CONTROL_LINE, "ok done");
	else if (verifying->state == VERIFY_FAILED)
		snprintf(reply, XB_CONTROL_LINE, "ok failed %s", verifying->why);
	else
		snprintf(reply, XB_CONTROL_LINE, "ok busy %" PRIu64 " %" PRIu64, verifying->done,
			 verifying->total);
}
