/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetches the fleet's newest snapshot into a file, and the log behind it; resynctake.c then brings
 * the store to that state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writeall.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/base/scratchfile.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"
#include "engine/tallies.h"

#define RETRY	      (5 * FLEET_SECOND)
#define LAST_RETRY    (60 * FLEET_SECOND)
#define BEGIN_AFTER   (10 * FLEET_SECOND) /* behind an entry that no host wrote */
#define TURN	      10000		  /* us: for each host of the fleet */
#define MISSING_TRIES 6			  /* without a snapshot, until a new log is begun */
#define WHY	      200		  /* bytes of a reason */
#define STILL_AFTER   (90 * FLEET_SECOND) /* nobody wrote to a log that leads nowhere */

static void free_files(struct fleet_resync *resync)
{
	if (resync->manifest)
		manifest_free(resync->manifest);
	free(resync->manifest);
	resync->manifest = NULL;
	if (resync->chunks >= 0)
		close(resync->chunks);
	resync->chunks = -1;
}

void resync_stop(struct fleet *fleet)
{
	bigwrite_stop(&fleet->bigwrite);
	replay_stop(&fleet->replay);
	free_files(&fleet->resync);
}

/* A snapshot may be large, so it is not fetched again and again at once. */
static uint64_t next_delay(struct fleet *fleet)
{
	return delay_doubled(RETRY, ++fleet->resync.failures, LAST_RETRY);
}

void resync_fail(struct fleet *fleet, const char *why)
{
	char text[WHY];

	if (fleet->config->snapshot_url) {
		loading_failed(fleet, why);
		return;
	}
	snprintf(text, sizeof(text), "%s", why);
	resync_stop(fleet);
	fleet_fail(fleet, next_delay(fleet), "cannot resync: %s", text);
}

/* What the server has leads nowhere: begins the log anew if nobody has written to it for
 * STILL_AFTER and as long as a host that can follow it may wait until it makes a snapshot. Then
 * there is no such host. */
static bool begins_anew(struct fleet *fleet, uint64_t others_wait)
{
	struct fleet_resync *resync = &fleet->resync;
	uint64_t now = agent_clock();

	if (!resync->still_since || resync->still_end != fleet->log.end) {
		resync->still_end = fleet->log.end;
		resync->still_since = now;
	}
	if (now <= resync->still_since + others_wait + STILL_AFTER || !fleet->key_known ||
	    !fleet_has_all(fleet))
		return false;
	resync->still_since = 0;
	resync_stop(fleet);
	snapshots_begin(fleet);
	return true;
}

/* Whether the log itself does not lead on from what this host has. */
static bool is_cut_off(const struct fleet *fleet)
{
	static const char *const causes[] = {"bad-entry", "begin", "epoch", "trimmed"};

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (!strcmp(fleet->resync.cause, causes[i]))
			return true;
	return false;
}

/* The snapshot on the server is of no use; the next one replaces it. */
static void meet_useless(struct fleet *fleet, const char *why)
{
	char text[WHY];

	snprintf(text, sizeof(text), "%s", why);
	if (!is_cut_off(fleet) || !begins_anew(fleet, fleet->config->snapshot_every * FLEET_SECOND))
		resync_fail(fleet, text);
}

/* The server has something else than a host of the fleet put there. */
static void refuse(struct fleet *fleet, const char *why)
{
	fleet_refuses(fleet, "snapshot");
	meet_useless(fleet, why);
}

static const char *why_of_reply(const char *request, const struct server_reply *reply,
				char why[WHY])
{
	char text[REPLY_SHOWN];

	snprintf(why, WHY, "%s: %s", request, fleet_reply_text(reply, text));
	return why;
}

static void refuse_reply(struct fleet *fleet, const char *request, const struct server_reply *reply)
{
	char why[WHY];

	refuse(fleet, why_of_reply(request, reply, why));
}

/* There is a log, but nothing to join it by: a host that has its state will make a snapshot. If
 * none does for long, the log begins anew. A part may be lacking for ever if the server was emptied
 * between the parts. */
static void meet_none(struct fleet *fleet, const char *why)
{
	resync_stop(fleet);
	if (++fleet->resync.missing > MISSING_TRIES && fleet_has_all(fleet)) {
		fleet->resync.missing = 0;
		snapshots_begin(fleet);
		return;
	}
	fleet_enter(fleet, FLEET_WAITING, "%s", why);
	fleet_then(fleet, RETRY, reading_check);
}

/* --- chunks --- */

static void ask_chunk(struct fleet *fleet);

static void on_chunk(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_resync *resync = &fleet->resync;

	if (fleet->phase != FLEET_RESYNCING || !resync->manifest)
		return;
	if (reply->kind == REPLY_NIL) {
		if (!resync->missing)
			xb_warning("fleet: a part of the newest snapshot is not there; what is "
				   "listed stays");
		meet_none(fleet, "a part of the newest snapshot is not there");
		return;
	}
	if (reply->kind != REPLY_STRING) {
		refuse_reply(fleet, "a chunk of the snapshot", reply);
		return;
	}
	fleet->last_message = clock_now();
	if (chunk_check(resync->manifest, resync->next, &fleet->key, reply->text, reply->size))
		refuse(fleet, xb_error_message());
	else if (!xb_write_all(resync->chunks, reply->text, reply->size))
		resync_fail(fleet, "no room for the snapshot in the state directory");
	else {
		resync->next++;
		ask_chunk(fleet);
	}
}

static void ask_chunk(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;
	struct request request = {0};
	char id[ID_TEXT];

	if (resync->next == resync->manifest->chunk_count) {
		resync->still_since = 0;
		replay_fetch(fleet,
			     &(struct replay_span){.from = resync->manifest->position,
						   .end = fleet->log.end,
						   .chain = resync->manifest->chain},
			     resynctake_start);
		return;
	}
	request_words(&request, "GET %schunk:%s:%zu", fleet->prefix,
		      id_format(resync->manifest->id, id), resync->next);
	fleet_ask(fleet, &request, 60, on_chunk);
}

/* --- the manifest --- */

/* Whether the log goes on where the snapshot ends: it has that entry, or the one behind it. */
static bool leads_on(const struct fleet *fleet, const struct server_reply *entries)
{
	const struct manifest *manifest = fleet->resync.manifest;
	struct logentry entry = {0};
	struct stream_entry first;
	bool leads;

	if (!entries->size || !stream_entry_read(&entries->node[0], &first) ||
	    logentry_read(first.bytes, first.size, &entry)) {
		logentry_free(&entry);
		return false;
	}
	if (first.position == manifest->position)
		leads = !memcmp(entry.chain, manifest->chain, MAC_BYTES);
	else
		leads = logentry_chains(first.bytes, first.size, &fleet->key, first.position,
					manifest->chain) > 0;
	logentry_free(&entry);
	return leads;
}

bool resync_open(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;

	resync->chunks = scratchfile_open(fleet->agent->paths.state, "chunks");
	resync->next = 0;
	if (resync->chunks < 0)
		resync_fail(fleet, "no file for the snapshot");
	return resync->chunks >= 0;
}

/* Somebody trimmed the log. A host that has its state makes a snapshot as soon as it sees that. */
static void meet_cut(struct fleet *fleet)
{
	if (begins_anew(fleet, 0))
		return;
	resync_stop(fleet);
	fleet_fail(fleet, RETRY, "cannot resync: the log does not go on from the newest snapshot");
}

static void on_place(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_resync *resync = &fleet->resync;

	if (fleet->phase != FLEET_RESYNCING || !resync->manifest)
		return;
	if (!stream_is_entries(reply)) {
		refuse_reply(fleet, "the log", reply);
		return;
	}
	if (!leads_on(fleet, reply)) {
		meet_cut(fleet);
		return;
	}
	if (resync_open(fleet))
		ask_chunk(fleet);
}

/* There is no snapshot from behind the bad entry, and this host is known to have the fleet's
 * secret. If no host wrote the entry, the way past it is a new log: nobody loses anything by that.
 */
static void stay_before(struct fleet *fleet)
{
	resync_stop(fleet);
	if (fleet->forged && agent_clock() > fleet->bad_since + BEGIN_AFTER &&
	    fleet_has_all(fleet)) {
		snapshots_begin(fleet);
		return;
	}
	fleet_enter(fleet, FLEET_FAILED, "%s", fleet->bad);
	fleet_then(fleet, next_delay(fleet), reading_check);
}

/* The server has lost the log that this host has, and has one from before. A snapshot of that is
 * taken if there is a cause: it takes out nothing that this host has seen since. */
static bool has_former_log(const struct fleet *fleet)
{
	return fleet->log.known && fleet->log.term < fleet->view.fleet.term;
}

/* Whether it is of no use: then what comes of that is done. A snapshot from before would only lead
 * to the same place of the log again. */
static bool is_too_old(struct fleet *fleet)
{
	const struct manifest *manifest = fleet->resync.manifest;
	const struct xb_fleet *here = &fleet->view.fleet;
	const char *cause = fleet->resync.cause;
	bool leads_back = manifest->term == here->term &&
			  !memcmp(manifest->epoch, here->epoch, XB_FLEET_ID) &&
			  manifest->position <= here->position;
	bool is_former = manifest->term < here->term && !has_former_log(fleet);

	if ((is_former || leads_back) && !strcmp(cause, "bad-entry"))
		stay_before(fleet);
	else if (is_former)
		meet_useless(fleet, "the newest snapshot is older than what this host has");
	else if (leads_back && (!strcmp(cause, "begin") || !strcmp(cause, "epoch")))
		meet_useless(fleet, "the log begins anew, but its snapshot is not there");
	else
		return false;
	return true;
}

static void look_at_place(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;
	unsigned long long position = resync->manifest->position;
	struct request request = {0};

	if (is_too_old(fleet))
		return;
	if (resynctake_is_held(fleet, resync->manifest)) {
		resynctake_hold(fleet);
		return;
	}
	request_words(&request, "XRANGE %slog %llu-0 %llu-0 COUNT 1", fleet->prefix, position,
		      position + 1);
	fleet_ask(fleet, &request, 0, on_place);
}

/* Whoever forged the entry may have put this there, too. */
static void refuse_manifest(struct fleet *fleet, const char *why)
{
	bool is_behind_forged = fleet->forged && !strcmp(fleet->resync.cause, "bad-entry");

	if (!fleet->key_known || !is_behind_forged) {
		refuse(fleet, why);
		return;
	}
	fleet_refuses(fleet, "snapshot");
	stay_before(fleet);
}

static void on_manifest(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_resync *resync = &fleet->resync;
	char why[WHY];

	if (fleet->phase != FLEET_RESYNCING || resync->manifest)
		return;
	if (reply->kind == REPLY_NIL) {
		meet_none(fleet, "the fleet has no snapshot yet");
		return;
	}
	if (reply->kind != REPLY_STRING) {
		refuse_manifest(fleet, why_of_reply("the snapshot", reply, why));
		return;
	}
	resync->manifest = calloc(1, sizeof(*resync->manifest));
	if (!resync->manifest)
		resync_fail(fleet, "out of memory");
	else if (manifest_read(reply->text, reply->size, &fleet->key, resync->manifest))
		refuse_manifest(fleet, xb_error_message());
	else {
		fleet->key_known = true;
		look_at_place(fleet);
	}
}

static void ask_manifest(struct fleet *fleet)
{
	struct request request = {0};

	request_words(&request, "GET %ssnapshot", fleet->prefix);
	fleet_ask(fleet, &request, 60, on_manifest);
}

/* When a log begins anew, all hosts want the snapshot: they come one after the other, about. A host
 * that is new or that somebody waits for comes at once. */
static uint64_t turn(const struct fleet *fleet)
{
	uint64_t hosts = json_array_size(fleet->hosts);

	return fleet->resync.wanted ? 0 : fleet_random() % (hosts * TURN + 1);
}

void resync_begin(struct fleet *fleet, const char *cause)
{
	struct fleet_resync *resync = &fleet->resync;

	resync_stop(fleet);
	if (cause)
		resync->cause = cause;
	if (fleet_shown(fleet) != FLEET_FAILED && fleet->phase != FLEET_HELD &&
	    fleet->phase != FLEET_WAITING) {
		json_int_t count =
			json_integer_value(json_object_get(fleet->resyncs, resync->cause));

		xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_RESYNCS, resync->cause, NULL, 1);
		json_object_set_new(fleet->resyncs, resync->cause, json_integer(count + 1));
	}
	fleet_enter(fleet, FLEET_RESYNCING, NULL);
}

void resync_start(struct fleet *fleet, const char *cause)
{
	resync_begin(fleet, cause);
	fleet_then(fleet, turn(fleet), ask_manifest);
}
