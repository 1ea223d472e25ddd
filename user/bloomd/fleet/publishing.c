/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Appending to the fleet's log, by a connection of its own, since that of the reader waits in
 * XREAD. Nothing is appended to a log that is not the one that this host has read to its end:
 * docs/design.md, "Conditions on the server".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/text.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"

#define NO_END	      (STREAM_NOWHERE - 1) /* what is no log */
#define CHANGES_BYTES 700000		   /* of an entry, about */
#define SILENCE	      (15 * FLEET_SECOND)  /* after the server refused an entry */
#define FIRST_DELAY   500000		   /* us */
#define LAST_DELAY    (30 * FLEET_SECOND)
#define REPORTS_AGAIN (600 * FLEET_SECOND) /* after they were too large */

static void write_request(struct fleet *fleet, const struct request *request,
			  conn_answered *answered);

/* --- the connection --- */

static void on_ready(void *context)
{
	struct fleet *fleet = context;

	fleet->writable = true;
	fleet->writer_ready = agent_clock();
	if (clock_ask(fleet)) {
		publishing_fail(fleet);
		return;
	}
	publishing_try(fleet);
	snapshots_try(fleet);
}

void publishing_fail(struct fleet *fleet)
{
	uint64_t delay;

	fleet->writer_failures =
		fleet_failures(fleet->writer_failures, fleet->writable, fleet->writer_ready);
	publishing_close(fleet);
	delay = delay_doubled(FIRST_DELAY, fleet->writer_failures, LAST_DELAY);
	sd_event_source_set_time_relative(fleet->reopen, delay_spread(delay, 2, fleet_random()));
	sd_event_source_set_enabled(fleet->reopen, SD_EVENT_ONESHOT);
}

/* Every host of the fleet may write reports, and so many may not keep others from publishing. */
static void leave_reports(struct fleet *fleet)
{
	if (!fleet->reports_large)
		xb_warning("fleet: the reports of the hosts are too large, so they are not shown: "
			   "delete %sreports",
			   fleet->prefix);
	fleet_refuses(fleet, "answer");
	fleet->reports_large = true;
	fleet->hosts_due = agent_clock() + REPORTS_AGAIN;
}

/* The reader says what is wrong with the server. */
static void on_lost(void *context, const char *outcome, const char *message)
{
	struct fleet *fleet = context;

	(void)message;
	snapshots_lost(fleet, outcome);
	if (fleet->reports_asked && !strcmp(outcome, "too-large"))
		leave_reports(fleet);
	publishing_fail(fleet);
}

void publishing_open(struct fleet *fleet)
{
	struct conn_target target = fleet_config_target(fleet->config);

	if (fleet->writer || !fleet->connected)
		return;
	if (conn_open(fleet->agent, &target, on_ready, on_lost, fleet, &fleet->writer)) {
		fleet->writer = NULL;
		publishing_fail(fleet);
	}
}

static void free_append(struct fleet_append *append)
{
	free(append->bytes);
	free(append->manifest);
	*append = (struct fleet_append){0};
}

/* What was appended is not known then: reading on shows it. */
void publishing_close(struct fleet *fleet)
{
	conn_close(fleet->writer);
	fleet->writer = NULL;
	fleet->writable = fleet->reports_asked = false;
	fleet->time_asked = 0;
	sd_event_source_set_enabled(fleet->reopen, SD_EVENT_OFF);
	free_append(&fleet->append);
	fleet->log_watch = (struct fleet_watch){0};
	snapshots_stop(fleet);
	filing_disconnect(fleet);
	if (fleet->phase == FLEET_BEGINNING)
		fleet_then(fleet, FLEET_SECOND, reading_check);
}

static void write_request(struct fleet *fleet, const struct request *request,
			  conn_answered *answered)
{
	if (fleet->writer && request_send(request, fleet->writer, 0, answered, fleet))
		publishing_fail(fleet);
}

/* --- appending --- */

static void end_append(struct fleet *fleet, enum fleet_appended outcome)
{
	void (*appended)(struct fleet *, enum fleet_appended) = fleet->appended;

	fleet->append.busy = false;
	/* Then the lease is another host's, as far as this one knows, and not to be given back. */
	if (outcome == FLEET_OVERTAKEN && fleet->append.manifest)
		fleet->snapshots.leased = 0;
	appended(fleet, outcome);
	if (fleet->append.busy)
		return;
	free_append(&fleet->append);
	snapshotsend_put(fleet);
	publishing_try(fleet);
}

static bool is_refusal(const struct server_reply *reply, char why[FLEET_WHY])
{
	if (reply->kind != REPLY_ERROR)
		return false;
	xb_utf8_show(reply->text, reply->size, why, FLEET_WHY);
	return true;
}

static void note_refusal(struct fleet_append *append, const struct server_reply *reply)
{
	append->refused = append->refused || is_refusal(reply, append->why);
}

static void on_queued(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	note_refusal(&fleet->append, reply);
}

/* --- what is watched --- */

static void decide(struct fleet *fleet);

static void on_watched(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_watch *watch = &fleet->log_watch;

	watch->refused = is_refusal(reply, watch->why);
}

static void read_end(struct fleet *fleet, const struct server_reply *reply)
{
	static const uint8_t none[MAC_BYTES];
	struct fleet_watch *watch = &fleet->log_watch;
	struct logentry entry = {0};
	struct stream_entry last;

	watch->end = stream_is_entries(reply) ? 0 : NO_END;
	watch->chained = false;
	watch->begun = 0;
	if (watch->end == NO_END || !reply->size)
		return;
	stream_entry_read(&reply->node[0], &last);
	watch->end = last.position;
	watch->chained = !logentry_read(last.bytes, last.size, &entry);
	memcpy(watch->chain, entry.chain, MAC_BYTES);
	if (watch->chained && entry.kind == LOGENTRY_BEGIN &&
	    logentry_chains(last.bytes, last.size, &fleet->key, last.position, none) > 0)
		watch->begun = entry.term;
	logentry_free(&entry);
}

static void on_end(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_watch *watch = &fleet->log_watch;

	if (--watch->asked || !watch->set)
		return;
	watch->known = true;
	watch->came = agent_clock();
	watch->refused = watch->refused || is_refusal(reply, watch->why);
	read_end(fleet, reply);
	if (!fleet->append.waits)
		return;
	fleet->append.waits = false;
	decide(fleet);
}

static void watch_log(struct fleet *fleet)
{
	struct fleet_watch *watch = &fleet->log_watch;
	struct request set = {0}, last = {0};

	request_words(&set, "WATCH %slog", fleet->prefix);
	request_words(&last, "XREVRANGE %slog + - COUNT 1", fleet->prefix);
	write_request(fleet, &set, on_watched);
	write_request(fleet, &last, on_end);
	if (!fleet->writer)
		return;
	watch->set = true;
	watch->known = false;
	watch->sent = agent_clock();
	watch->asked++;
}

static void on_unwatched(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	note_refusal(&fleet->append, reply);
	if (reply->kind == REPLY_ERROR)
		fleet->log_watch.set = true;
}

static void unwatch(struct fleet *fleet, conn_answered *answered)
{
	struct request request = {0};

	fleet->log_watch.set = false;
	request_word(&request, "UNWATCH");
	write_request(fleet, &request, answered);
}

/* Whether the log ends with what the entry is to follow, if nobody has changed it meanwhile. What
 * begins a log may follow a forged entry, but no entry by which another host began that log. */
static bool follows_end(const struct fleet_append *append, const struct fleet_watch *watch)
{
	if (watch->refused || watch->end != append->end)
		return false;
	if (append->begins)
		return watch->begun < append->term;
	return !watch->end || (watch->chained && !memcmp(watch->chain, append->chain, MAC_BYTES));
}

/* Whether the next entry may rely on what is watched. Who publishes all the while must not be
 * faster than others who have to ask what the log ends with: so nothing was sent for as long as
 * that takes. */
static bool stands(const struct fleet_watch *watch)
{
	return watch->set && watch->known &&
	       agent_clock() - watch->came >= watch->came - watch->sent;
}

/* --- the transaction --- */

static void try_again(struct fleet *fleet)
{
	fleet->append.stood = false;
	fleet->append.waits = true;
	if (!fleet->log_watch.set)
		watch_log(fleet);
}

static void on_done(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_append *append = &fleet->append;
	bool appended = reply->kind == REPLY_ARRAY;

	note_refusal(append, reply);
	for (size_t i = 0; reply->kind == REPLY_ARRAY && i < reply->size; i++) {
		note_refusal(append, &reply->node[i]);
		appended = appended && reply->node[i].kind != REPLY_NIL;
	}
	if (append->refused)
		end_append(fleet, FLEET_NOT_APPENDED);
	else if (appended)
		end_append(fleet, FLEET_APPENDED);
	else if (append->stood)
		try_again(fleet);
	else
		end_append(fleet, FLEET_OVERTAKEN);
}

/* Nothing else of this connection comes between these. What begins a log replaces the one before:
 * a server takes no id below one that was there, and whoever can write to it may have added the
 * last one that there is. EXEC ends what is watched. Behind the last
 * entry for now the log is watched again: the next one need not wait for another answer then. */
static void send_transaction(struct fleet *fleet)
{
	struct request multi = {0}, set = {0}, clear = {0}, add = {0}, exec = {0};
	struct fleet_append *append = &fleet->append;

	xb_fault("fleet-appends");
	request_word(&multi, "MULTI");
	write_request(fleet, &multi, on_queued);
	if (append->manifest) {
		request_words(&set, "SET %ssnapshot", fleet->prefix);
		request_bytes(&set, append->manifest, append->manifest_size);
		write_request(fleet, &set, on_queued);
	}
	if (append->begins) {
		request_words(&clear, "DEL %slog", fleet->prefix);
		write_request(fleet, &clear, on_queued);
	}
	if (append->bytes) {
		request_words(&add, "XADD %slog %s %llu-0 e", fleet->prefix,
			      append->begins ? "" : "NOMKSTREAM",
			      (unsigned long long)append->position);
		request_bytes(&add, append->bytes, append->size);
		write_request(fleet, &add, on_queued);
	}
	request_word(&exec, "EXEC");
	write_request(fleet, &exec, on_done);
	fleet->log_watch.set = false;
	if (append->bytes && !append->manifest && !append->more)
		watch_log(fleet);
}

static void on_given_up(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	on_unwatched(context, reply);
	end_append(fleet, fleet->append.refused ? FLEET_NOT_APPENDED : FLEET_OVERTAKEN);
}

/* All that the transaction depends on is watched, and known. */
static void decide(struct fleet *fleet)
{
	struct fleet_append *append = &fleet->append;
	const struct fleet_watch *watch = &fleet->log_watch;
	bool follows = !append->bytes || follows_end(append, watch);

	if (append->bytes && watch->refused && !append->refused) {
		append->refused = true;
		strcpy(append->why, watch->why);
	}
	if (follows && !append->refused && !append->overtaken)
		send_transaction(fleet);
	else
		unwatch(fleet, on_given_up);
}

static void on_holder(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	note_refusal(&fleet->append, reply);
	fleet->append.overtaken = !snapshots_is_holder(fleet, reply);
	if (!fleet->append.bytes)
		decide(fleet);
}

/* Who takes over the lease removes what its former holder has sent, and makes a snapshot: that one
 * must not begin a log any more, nor replace what is newer. It may have slept since it looked at
 * its clock. */
static void watch_lease(struct fleet *fleet)
{
	struct request watch = {0}, holder = {0};

	request_words(&watch, "WATCH %slease", fleet->prefix);
	request_words(&holder, "GET %slease", fleet->prefix);
	write_request(fleet, &watch, on_queued);
	write_request(fleet, &holder, on_holder);
}

void publishing_append(struct fleet *fleet, void (*appended)(struct fleet *, enum fleet_appended))
{
	struct fleet_append *append = &fleet->append;
	const struct fleet_watch *watch = &fleet->log_watch;

	append->busy = true;
	append->waits = append->bytes != NULL;
	append->stood = !append->manifest && stands(watch) && follows_end(append, watch);
	fleet->appended = appended;
	if (append->stood) {
		append->waits = false;
		send_transaction(fleet);
		return;
	}
	if (watch->set)
		unwatch(fleet, on_unwatched);
	if (append->manifest)
		watch_lease(fleet);
	if (append->bytes)
		watch_log(fleet);
}

/* --- publishing what waits --- */

/* The server does not let this host publish: what waits stays. */
static void fall_silent(struct fleet *fleet, const char *why)
{
	char text[sizeof(fleet->unpublished)];

	snprintf(text, sizeof(text), "cannot publish: %.200s", why);
	if (strcmp(text, fleet->unpublished) != 0)
		xb_warning("fleet: %s", text);
	strcpy(fleet->unpublished, text);
	fleet->silent = true;
	sd_event_source_set_time_relative(fleet->republish, SILENCE);
	sd_event_source_set_enabled(fleet->republish, SD_EVENT_ONESHOT);
	reporting_save(fleet);
}

/* The ids of the log go on behind its last entry, which is this host's: whoever can write to the
 * server has moved them, or has deleted entries. Then nobody can publish. The way past it is a new
 * log, by which nobody loses anything. */
static bool is_shut(const struct fleet *fleet, const char *why)
{
	return strstr(why, "equal or smaller") && fleet->key_known && reading_is_caught_up(fleet) &&
	       fleet_has_all(fleet);
}

static void begin_anew(struct fleet *fleet)
{
	static const char why[] =
		"the log takes no entry, since somebody has moved its ids: a new one begins";

	if (strcmp(fleet->unpublished, why) != 0) {
		xb_warning("fleet: %s", why);
		fleet_refuses(fleet, "entry");
		strcpy(fleet->unpublished, why);
	}
	snapshots_begin(fleet);
}

static void on_published(struct fleet *fleet, enum fleet_appended outcome)
{
	struct fleet_append *append = &fleet->append;
	uint64_t position = append->position;

	if (outcome == FLEET_NOT_APPENDED && is_shut(fleet, append->why)) {
		begin_anew(fleet);
		return;
	}
	if (outcome == FLEET_NOT_APPENDED) {
		fall_silent(fleet, append->why);
		return;
	}
	/* Overtaken or not: there is more to read first. If not even that is so, a comparison of
	 * the log with the store shows it. */
	if (position > fleet->log.end)
		fleet->log.end = position;
	if (outcome == FLEET_OVERTAKEN)
		return;
	xb_fault("fleet-published");
	if (*fleet->unpublished)
		log_info("fleet: publishing works again");
	fleet->silent = false;
	*fleet->unpublished = '\0';
	if (fleet->phase == FLEET_READING &&
	    !follow_queue_add(&fleet->queue, position, append->bytes, append->size))
		reading_apply(fleet);
}

/* 1: there is an entry to publish; 0: nothing waits. */
static int make_entry(struct fleet *fleet, struct xb_txn *txn)
{
	const struct xb_fleet *here = &fleet->view.fleet;
	struct logentry entry = {.kind = LOGENTRY_CHANGE,
				 .term = here->term,
				 .time = (uint64_t)(clock_now() * 1000)};
	struct fleet_append *append = &fleet->append;
	int error = xb_outbox_read(txn, LOGENTRY_CHANGES, CHANGES_BYTES, &entry.changes);
	size_t count = entry.changes.count;

	memcpy(entry.epoch, here->epoch, XB_FLEET_ID);
	memcpy(entry.publisher, here->host, XB_FLEET_ID);
	if (!error && count) {
		entry.first = entry.changes.number[0];
		entry.last = entry.changes.number[count - 1];
		append->end = here->position;
		append->position = here->position + 1;
		append->more = fleet->view.waiting > count;
		memcpy(append->chain, here->chain, MAC_BYTES);
		error = logentry_write(&entry, &fleet->key, here->position + 1, here->chain,
				       &append->bytes, &append->size);
	}
	logentry_free(&entry);
	return error ?: count > 0;
}

static int read_outbox(struct fleet *fleet)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int found = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	if (found)
		return found == -ENOENT ? 0 : found;
	found = xb_fleet_get(txn, &fleet->view.fleet);
	if (found > 0)
		found = make_entry(fleet, txn);
	xb_store_end_reading(store, txn);
	return found;
}

void publishing_try(struct fleet *fleet)
{
	int found;

	if (!fleet->writable || fleet->silent || fleet->append.busy || fleet->snapshots.sent ||
	    !fleet->view.waiting || !reading_is_caught_up(fleet))
		return;
	free_append(&fleet->append);
	found = read_outbox(fleet);
	if (found < 0)
		fall_silent(fleet, xb_error_message());
	else if (found)
		publishing_append(fleet, on_published);
}
