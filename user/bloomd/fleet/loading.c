/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a fleet without its server: by its snapshots, which a web server has as files.
 * bloomd-fetch loads them, one after another. Whatever is wrong with them, the store stays as it
 * is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshotfiles.h"
#include "engine/tallies.h"

#define FIRST		 2   /* seconds: hosts that start at once come within this time */
#define TIME_LIMIT	 120 /* for one file */
#define RETRY		 30  /* after the first failure, if the period is not shorter */
#define RETRY_AFTER_MOST 3600
#define SKEW_MOST	 5
#define PAGE_MOST	 65536 /* bytes of what a server says instead of a small file */

static void stop_fetcher(struct fleet *fleet)
{
	fetcher_stop(fleet->loading.fetcher);
	fleet->loading.fetcher = NULL;
}

void loading_stop(struct fleet *fleet)
{
	stop_fetcher(fleet);
}

/* --- how an attempt ended --- */

static void count(const struct fleet *fleet, const char *outcome)
{
	xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_FILES, outcome, NULL, 1);
}

/* After an outage sooner than else. Not all hosts come at once, and none before a server that asks
 * for time wants it. */
static void wait_for_next(struct fleet *fleet, bool outage, uint32_t retry_after)
{
	uint64_t every = fleet->config->load_every, delay = every;

	if (outage)
		delay = delay_doubled(delay_least(every, RETRY), fleet->loading.failures, every);
	delay = delay_most(delay, delay_least(retry_after, RETRY_AFTER_MOST));
	fleet_then(fleet, delay_spread(delay * FLEET_SECOND, 10, fleet_random()), loading_check);
}

static void forget_manifest(struct fleet_loading *loading)
{
	*loading->etag = *loading->modified = '\0';
}

/* outcome: a word of the program. */
static void fail(struct fleet *fleet, enum fleet_phase phase, const char *outcome,
		 const char *message)
{
	char text[sizeof(fleet->message)];

	xb_utf8_show(message, strlen(message) + 1, text, sizeof(text));
	if (fleet->connected || strcmp(outcome, fleet->outcome) != 0)
		xb_warning("fleet: %s: %s; what is listed stays", outcome, text);
	count(fleet, outcome);
	snprintf(fleet->outcome, sizeof(fleet->outcome), "%s", outcome);
	fleet->connected = false;
	/* An operator said yes to what he saw, not to what may come. */
	fleet->resync.accept = false;
	fleet->loading.failures++;
	forget_manifest(&fleet->loading);
	resync_stop(fleet);
	fleet_enter(fleet, phase, "%s: %s", outcome, text);
}

/* The files are there, but not taken: that may last until others are. */
static void refuse(struct fleet *fleet, const char *outcome, const char *message)
{
	fail(fleet, FLEET_FAILED, outcome, message);
	wait_for_next(fleet, false, 0);
}

void loading_failed(struct fleet *fleet, const char *why)
{
	fail(fleet, FLEET_FAILED, "failed", why);
	wait_for_next(fleet, true, 0);
}

static void fail_to_load(struct fleet *fleet, const char *name, const struct fetch_result *result)
{
	char message[FLEET_WHY], why[FLEET_WHY];
	bool missed = fetcher_missed(result);

	snprintf(message, sizeof(message), "cannot load %.40s: %.200s", name, result->detail);
	if (missed)
		fleet_missed(fleet, fleet->config->snapshot_url, message, why);
	fail(fleet, FLEET_CONNECTING, fetcher_outcome(result->outcome), missed ? why : message);
	wait_for_next(fleet, true, result->retry_after);
}

/* ms since 1970, as UTC. */
static const char *time_format(uint64_t ms, char text[32])
{
	return xb_time_format(ms / 1000, text);
}

static bool is_too_old(const struct fleet *fleet, uint64_t ms)
{
	return clock_now() - (double)ms / 1000 > fleet->config->max_age;
}

/* Nothing is wrong with an old snapshot that is in force, but that no newer one comes. */
static void look_at_age(struct fleet *fleet)
{
	bool stale = is_too_old(fleet, fleet->loading.time);

	if (stale && !fleet->loading.stale)
		xb_warning("fleet: the newest snapshot was made at %s: nobody renews the files",
			   time_format(fleet->loading.time, (char[32]){0}));
	fleet->loading.stale = stale;
}

static void settle(struct fleet *fleet, const char *outcome)
{
	if (*fleet->outcome)
		log_info("fleet: snapshots are loaded again");
	*fleet->outcome = '\0';
	fleet->connected = true;
	fleet->loading.failures = 0;
	fleet->last_message = clock_now();
	if (fleet->phase != FLEET_HELD)
		fleet->files_time = fleet->loading.time / 1000;
	count(fleet, outcome);
	look_at_age(fleet);
	wait_for_next(fleet, false, 0);
	reporting_save(fleet);
}

void loading_taken(struct fleet *fleet)
{
	fleet_see(fleet);
	fleet->log.end = fleet->view.fleet.position;
	fleet_works(fleet);
	fleet_enter(fleet, FLEET_READING, NULL);
	settle(fleet, "taken");
}

void loading_held(struct fleet *fleet)
{
	settle(fleet, "held");
}

/* What is held is not taken because it is still there. */
static void meet_unchanged(struct fleet *fleet)
{
	fleet_works(fleet);
	if (fleet->phase != FLEET_HELD)
		fleet_enter(fleet, FLEET_READING, NULL);
	settle(fleet, "unchanged");
}

/* --- one file --- */

/* NULL with a message. The caller frees it. */
static uint8_t *read_body(int fd, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	size_t have = 0;

	if (!bytes)
		xb_out_of_memory();
	while (bytes && have < size) {
		ssize_t got = TEMP_FAILURE_RETRY(read(fd, bytes + have, size - have));

		if (got <= 0) {
			xb_system_error(0, "what was loaded cannot be read");
			free(bytes);
			return NULL;
		}
		have += (size_t)got;
	}
	return bytes;
}

/* The process has ended; its body becomes bytes. NULL: there is none; *failed: with a message. */
static uint8_t *end_fetch(struct fleet *fleet, const struct fetched *fetched, bool *failed)
{
	uint8_t *bytes = NULL;

	*failed = false;
	stop_fetcher(fleet);
	if (fetched->body < 0)
		return NULL;
	bytes = read_body(fetched->body, fetched->result.bytes);
	*failed = !bytes;
	close(fetched->body);
	return bytes;
}

static int ask(struct fleet *fleet, const char *name, size_t most, bool conditional,
	       fetcher_done *done)
{
	struct fetch_request *request = calloc(1, sizeof(*request));
	const struct fleet_config *config = fleet->config;
	int error;

	if (!request)
		return xb_out_of_memory();
	request->magic = FETCH_MAGIC;
	request->seconds = TIME_LIMIT;
	request->max_bytes = most;
	request->kind = FETCH_LIST;
	snprintf(request->url, sizeof(request->url), "%s/%s", config->snapshot_url, name);
	snprintf(request->ca, sizeof(request->ca), "%s", config->ca ?: "");
	if (conditional) {
		strcpy(request->etag, fleet->loading.etag);
		strcpy(request->modified, fleet->loading.modified);
	}
	error = fetcher_ask(fleet->agent, request, done, fleet, &fleet->loading.fetcher);
	free(request);
	return error;
}

/* --- chunks --- */

static void next_chunk(struct fleet *fleet);

static void fail_to_store(struct fleet *fleet)
{
	if (xb_error_class() == XB_ERROR_INPUT)
		refuse(fleet, "damaged", xb_error_message());
	else
		loading_failed(fleet, xb_error_message());
}

static void on_chunk(void *context, const struct fetched *fetched)
{
	const struct fetch_result result = fetched->result;
	struct fleet *fleet = context;
	struct fleet_resync *resync = &fleet->resync;
	char what[40];
	bool failed;
	uint8_t *bytes = end_fetch(fleet, fetched, &failed);

	snprintf(what, sizeof(what), "chunk %zu of the snapshot", resync->next);
	if (failed)
		loading_failed(fleet, xb_error_message());
	else if (!bytes)
		fail_to_load(fleet, what, &result);
	else if (chunk_store(resync->manifest, resync->next, &fleet->key, resync->chunks, bytes,
			     result.bytes))
		fail_to_store(fleet);
	else {
		resync->next++;
		next_chunk(fleet);
	}
	free(bytes);
}

/* Lists that this host does not follow are not loaded: nobody reads their chunks. */
static bool is_needed(const struct fleet *fleet, const struct manifest_chunk *chunk)
{
	const char *list = fleet->resync.manifest->lists[chunk->list].name;

	for (size_t i = 0; i < fleet->view.shares; i++)
		if (!strcmp(fleet->view.share[i].list, list))
			return fleet->view.share[i].flags & XB_SHARE_FOLLOW;
	return false;
}

static void next_chunk(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;
	const struct manifest *manifest = resync->manifest;
	char name[SNAPSHOT_NAME];

	while (resync->next < manifest->chunk_count &&
	       !is_needed(fleet, &manifest->chunks[resync->next]))
		resync->next++;
	if (resync->next == manifest->chunk_count)
		resynctake_start(fleet);
	else if (ask(fleet, snapshotfile_name(manifest, resync->next, name),
		     manifest->chunks[resync->next].size + PAGE_MOST, false, on_chunk))
		loading_failed(fleet, xb_error_message());
}

/* --- the manifest --- */

/* Why a snapshot is taken, even if it is of the same position as the store; NULL: it need not. */
static const char *cause_to_resync(const struct fleet *fleet)
{
	if (!fleet->view.fleet.position)
		return "start";
	if (fleet->resync.wanted)
		return "asked";
	if (fleet->resync.expired)
		return "clock";
	return fleet_view_new_list(&fleet->view) ? "list" : NULL;
}

/* Copies of files stay in caches. What this host has is not taken back by them. */
static bool is_refused(struct fleet *fleet, const struct manifest *manifest, const char **cause)
{
	const struct xb_fleet *here = &fleet->view.fleet;
	bool same = manifest->term == here->term && manifest->position == here->position;
	char message[160];

	if (here->position && manifest_is_before(manifest, here->term, here->position)) {
		snprintf(message, sizeof(message),
			 "the snapshot is of position %" PRIu64 ", term %" PRIu64
			 ", and this host has %" PRIu64 ", term %" PRIu64,
			 manifest->position, manifest->term, here->position, here->term);
		refuse(fleet, "older", message);
	} else if (here->position && same && memcmp(manifest->epoch, here->epoch, XB_FLEET_ID)) {
		refuse(fleet, "older", "the snapshot is of another log than what this host has");
	} else if (same && !*cause) {
		return false;
	} else if (is_too_old(fleet, manifest->time)) {
		snprintf(message, sizeof(message), "the snapshot was made at %s",
			 time_format(manifest->time, (char[32]){0}));
		refuse(fleet, "expired", message);
	} else {
		*cause = *cause ?: "newer";
		return false;
	}
	return true;
}

/* What expires does so by this host's clock. */
static void compare_clocks(struct fleet *fleet, const struct manifest *manifest)
{
	double ahead = (double)manifest->time / 1000 - clock_now();

	if (ahead > SKEW_MOST && !fleet->skewed)
		xb_warning("fleet: the clock of this host is %.0f s behind that of the snapshot's "
			   "maker: entries expire at other times than there",
			   ahead);
	fleet->skewed = ahead > SKEW_MOST;
	fleet->skew = fleet->skewed ? -ahead : 0;
}

static bool is_to_be_taken(struct fleet *fleet, const struct manifest *manifest, const char **cause)
{
	if (is_refused(fleet, manifest, cause))
		return false;
	if (*cause && !resynctake_is_held(fleet, manifest))
		return true;
	if (*cause)
		resynctake_hold(fleet);
	else
		meet_unchanged(fleet);
	return false;
}

/* Takes over the manifest. */
static void look_at(struct fleet *fleet, struct manifest *manifest)
{
	const char *cause = cause_to_resync(fleet);

	compare_clocks(fleet, manifest);
	if (!is_to_be_taken(fleet, manifest, &cause)) {
		manifest_free(manifest);
		free(manifest);
		return;
	}
	resync_begin(fleet, cause);
	fleet->resync.manifest = manifest;
	if (resync_open(fleet))
		next_chunk(fleet);
}

static void take_manifest(struct fleet *fleet, const uint8_t *bytes,
			  const struct fetch_result *result)
{
	struct manifest *manifest = calloc(1, sizeof(*manifest));

	if (!manifest) {
		loading_failed(fleet, "out of memory");
		return;
	}
	if (manifest_read(bytes, result->bytes, &fleet->key, manifest)) {
		refuse(fleet, "damaged", xb_error_message());
		manifest_free(manifest);
		free(manifest);
		return;
	}
	strcpy(fleet->loading.etag, result->etag);
	strcpy(fleet->loading.modified, result->modified);
	fleet->loading.time = manifest->time;
	look_at(fleet, manifest);
}

static void on_manifest(void *context, const struct fetched *fetched)
{
	const struct fetch_result result = fetched->result;
	struct fleet *fleet = context;
	bool failed;
	uint8_t *bytes = end_fetch(fleet, fetched, &failed);

	fleet_see(fleet);
	if (failed) {
		loading_failed(fleet, xb_error_message());
	} else if (bytes) {
		take_manifest(fleet, bytes, &result);
	} else if (result.outcome != FETCH_UNCHANGED) {
		fail_to_load(fleet, "the manifest", &result);
	} else if (fleet->resync.wanted || (cause_to_resync(fleet) && fleet->phase != FLEET_HELD)) {
		forget_manifest(&fleet->loading);
		loading_check(fleet);
	} else {
		meet_unchanged(fleet);
	}
	free(bytes);
}

void loading_check(struct fleet *fleet)
{
	if (fleet->loading.fetcher || fleet->resync.manifest)
		return;
	fleet_see(fleet);
	if (fleet->resync.wanted)
		forget_manifest(&fleet->loading);
	if (ask(fleet, SNAPSHOT_MANIFEST, MANIFEST_BYTES, true, on_manifest))
		loading_failed(fleet, xb_error_message());
}

void loading_begin(struct fleet *fleet)
{
	static const char *const outcomes[] = {"taken", "unchanged", "held",
					       "older", "expired",   "damaged"};

	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_FILES, outcomes[i], NULL, 0);
	fleet_enter(fleet, FLEET_CONNECTING, NULL);
	fleet_then(fleet, fleet_random() % (FIRST * FLEET_SECOND), loading_check);
}
