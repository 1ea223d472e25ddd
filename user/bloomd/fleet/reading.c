/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the fleet's log. A log that was deleted and made again, or lost its end in a failover,
 * shows nothing to a reader who waits behind it: so it is compared with what the store has whenever
 * nothing came.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"

#define COUNT	   100		      /* entries that are read at once */
#define BLOCK	   5000		      /* ms that the server waits for one */
#define LOGLESS	   (3 * FLEET_SECOND) /* until a new log is begun */
#define RETRY	   (2 * FLEET_SECOND)
#define LONG_RETRY (10 * FLEET_SECOND)

bool reading_is_caught_up(const struct fleet *fleet)
{
	return fleet->phase == FLEET_READING && !fleet->checking &&
	       follow_queue_is_empty(&fleet->queue) && fleet->view.fleet.position == fleet->log.end;
}

/* --- what came --- */

static void read_on(struct fleet *fleet);

/* An entry that cannot be taken: a snapshot that goes beyond it is the way past it. */
static void meet_bad(struct fleet *fleet, bool forged, const char *why)
{
	if (strcmp(fleet->bad, why) != 0) {
		xb_warning("fleet: %s; what is listed stays", why);
		fleet_refuses(fleet, "entry");
		snprintf(fleet->bad, sizeof(fleet->bad), "%s", why);
		fleet->bad_since = agent_clock();
	}
	fleet->forged = forged;
	resync_start(fleet, "bad-entry");
}

static void go_on(struct fleet *fleet, const struct follow *follow)
{
	switch (follow->stop) {
	case FOLLOW_ALL:
		follow_queue_clear(&fleet->queue);
		publishing_try(fleet);
		snapshots_try(fleet);
		read_on(fleet);
		break;
	case FOLLOW_MORE:
		fleet_then(fleet, 0, reading_apply);
		break;
	case FOLLOW_GAP:
		follow_queue_clear(&fleet->queue);
		fleet->gap = true;
		reading_check(fleet);
		break;
	case FOLLOW_BEGIN:
		follow_queue_clear(&fleet->queue);
		resync_start(fleet, "begin");
		break;
	default:
		follow_queue_clear(&fleet->queue);
		meet_bad(fleet, follow->forged, follow->why);
	}
}

static void cannot_apply(struct fleet *fleet)
{
	if (!fleet->complained)
		log_error("fleet: cannot apply what came; trying again");
	fleet->complained = true;
	fleet_enter(fleet, FLEET_FAILED, "%s", xb_error_message());
	fleet_then(fleet, LONG_RETRY, reading_apply);
}

void reading_apply(struct fleet *fleet)
{
	struct follow follow = {.key = &fleet->key, .queue = &fleet->queue};
	struct agent *agent = fleet->agent;
	int error;

	agent_writes(agent, "fleet");
	error = xb_write(&agent->paths, XB_WRITE_BRIEF, follow_apply, &follow, &agent->written);
	if (agent_is_busy(error)) {
		fleet_then(fleet, AGENT_RETRY, reading_apply);
		return;
	}
	if (error && error != XB_UNMET) {
		cannot_apply(fleet);
		return;
	}
	if (error && !fleet->complained)
		log_error("fleet");
	if (follow.done)
		fleet->complained = error;
	agent_wrote(agent);
	fleet->queue.next += follow.done;
	fleet->snapshots.changes += follow.changes;
	fleet->foreign |= follow.foreign;
	fleet_see(fleet);
	if (follow.done || fleet->phase == FLEET_FAILED)
		fleet_works(fleet);
	if (fleet->phase == FLEET_READING)
		go_on(fleet, &follow);
}

/* [[key, [entry, ...]]] */
static const struct server_reply *entries_of(const struct server_reply *reply)
{
	const struct server_reply *stream;

	if (reply->kind != REPLY_ARRAY || reply->size != 1)
		return NULL;
	stream = &reply->node[0];
	if (stream->kind != REPLY_ARRAY || stream->size != 2 ||
	    !stream_is_entries(&stream->node[1]))
		return NULL;
	return &stream->node[1];
}

static void take(struct fleet *fleet, const struct server_reply *entries)
{
	struct stream_entry next;
	int error = 0;

	if (entries->size && stream_entry_read(&entries->node[0], &next) &&
	    rewinding_read_again(fleet, &next))
		return;
	for (size_t i = 0; !error && i < entries->size; i++) {
		struct stream_entry entry;

		stream_entry_read(&entries->node[i], &entry);
		error = follow_queue_add(&fleet->queue, entry.position, entry.bytes, entry.size);
		if (entry.position > fleet->log.end)
			fleet->log.end = entry.position;
	}
	if (error) {
		follow_queue_clear(&fleet->queue);
		fleet_lost(fleet, "failed", xb_error_message());
		return;
	}
	fleet->last_message = clock_now();
	reading_apply(fleet);
}

static void on_entries(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	const struct server_reply *entries;

	fleet->asked = false;
	if (fleet->phase != FLEET_READING)
		return;
	if (reply->kind == REPLY_NIL || (reply->kind == REPLY_ARRAY && !reply->size)) {
		reading_check(fleet);
		return;
	}
	entries = entries_of(reply);
	if (entries)
		take(fleet, entries);
	else
		fleet_unexpected(fleet, "XREAD", reply);
}

static void read_on(struct fleet *fleet)
{
	struct request request = {0};

	if (fleet->asked || fleet->phase != FLEET_READING)
		return;
	fleet->asked = true;
	request_words(&request, "XREAD COUNT %u BLOCK %d STREAMS %slog %llu-0", fleet->count, BLOCK,
		      fleet->prefix, (unsigned long long)fleet->view.fleet.position);
	fleet_ask(fleet, &request, BLOCK / 1000 + fleet_config_target(fleet->config).seconds,
		  on_entries);
}

/* --- comparing --- */

static void check_again(struct fleet *fleet, uint64_t delay)
{
	fleet_then(fleet, delay, reading_check);
}

/* Nobody loses anything by an empty server: the hosts have it all. */
static void meet_no_log(struct fleet *fleet)
{
	uint64_t now = agent_clock();

	if (!fleet->logless)
		fleet->logless = now + fleet_random() % FLEET_SECOND;
	if (!fleet_has_all(fleet)) {
		fleet_enter(fleet, FLEET_WAITING,
			    "the server has no log, and this host does not publish and follow all "
			    "lists of the fleet, so it cannot begin one");
		check_again(fleet, RETRY);
	} else if (now < fleet->logless + LOGLESS) {
		fleet_enter(fleet, FLEET_WAITING, "the server has no log");
		check_again(fleet, FLEET_SECOND / 2);
	} else {
		snapshots_begin(fleet);
	}
}

static bool has_own(const struct fleet *fleet)
{
	return fleet->log.own && !memcmp(fleet->log.chain, fleet->view.fleet.chain, MAC_BYTES);
}

/* Why the state has to come from a snapshot; NULL: it need not. */
static const char *cause_to_resync(const struct fleet *fleet)
{
	static const uint8_t none[XB_FLEET_ID];
	const struct xb_fleet *here = &fleet->view.fleet;
	const struct fleet_log *log = &fleet->log;

	if (!here->position || !memcmp(here->epoch, none, XB_FLEET_ID))
		return "start";
	if (fleet->resync.wanted)
		return "asked";
	if (fleet->resync.expired)
		return "clock";
	/* Otherwise the entries in between lead there, and each shows that a host wrote it. */
	if (!has_own(fleet) && log->known && log->term > here->term)
		return "begin";
	if (!has_own(fleet) && log->known && log->term == here->term &&
	    memcmp(log->epoch, here->epoch, XB_FLEET_ID) != 0)
		return "epoch";
	if (fleet_view_new_list(&fleet->view))
		return "list";
	return log->first > here->position + 1 ? "trimmed" : NULL;
}

static bool is_as_known(const struct fleet *fleet)
{
	return fleet->log.own ? has_own(fleet) : fleet->log.first == fleet->view.fleet.position + 1;
}

/* The log is the one that the store knows. */
static void go_on_reading(struct fleet *fleet)
{
	unsigned long long position = fleet->view.fleet.position;
	char why[64];

	if (fleet->log.of_other_key) {
		fleet_fail(fleet, LONG_RETRY,
			   "the log was written with another secret than this host has: see "
			   "key-file");
		return;
	}
	if (fleet->gap && fleet->log.end > position) {
		snprintf(why, sizeof(why), "entry %llu of the log is missing", position + 1);
		meet_bad(fleet, true, why);
		return;
	}
	if (fleet->log.end == position)
		fleet_works(fleet);
	fleet_enter(fleet, FLEET_READING, NULL);
	publishing_try(fleet);
	snapshots_try(fleet);
	read_on(fleet);
}

static void compare(struct fleet *fleet)
{
	const struct fleet_log *log = &fleet->log;
	const char *cause;

	fleet->checking = false;
	fleet_heard(fleet);
	if (!log->any) {
		meet_no_log(fleet);
		return;
	}
	fleet->logless = 0;
	cause = cause_to_resync(fleet);
	if (cause)
		resync_start(fleet, cause);
	else if (is_as_known(fleet))
		go_on_reading(fleet);
	else
		rewinding_start(fleet);
	fleet->gap = false;
}

static bool read_one(struct fleet *fleet, const char *name, const struct server_reply *reply,
		     struct stream_entry *entry, bool *there)
{
	*there = false;
	if (!stream_is_entries(reply) || reply->size > 1) {
		fleet_unexpected(fleet, name, reply);
		return false;
	}
	*there = reply->size && stream_entry_read(&reply->node[0], entry);
	return true;
}

/* before: the entry in front of it; NULL: it is not there. */
static void take_own(struct fleet *fleet, const struct stream_entry *own,
		     const struct stream_entry *before)
{
	struct logentry entry = {0}, other = {0};
	bool is_known = false;

	fleet->log.own = true;
	if (!logentry_read(own->bytes, own->size, &entry)) {
		memcpy(fleet->log.chain, entry.chain, MAC_BYTES);
		is_known = entry.kind == LOGENTRY_BEGIN ||
			   (before && !logentry_read(before->bytes, before->size, &other));
	}
	/* What begins a log has nothing in front of it: all zero. */
	if (is_known && entry.kind == LOGENTRY_BEGIN)
		memset(other.chain, 0, MAC_BYTES);
	/* Once the key is known to be right, what does not fit was put there by somebody else. */
	fleet->log.of_other_key =
		is_known && !fleet->key_known &&
		!logentry_chains(own->bytes, own->size, &fleet->key, own->position, other.chain);
	fleet->key_known |= is_known && !fleet->log.of_other_key;
	logentry_free(&entry);
	logentry_free(&other);
}

/* The entry at this host's position, with the one in front of it. */
static void on_own(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	uint64_t position = fleet->view.fleet.position;
	const struct server_reply *before = NULL, *own = NULL;
	struct stream_entry found, other;

	if (!stream_is_entries(reply)) {
		fleet_unexpected(fleet, "XRANGE", reply);
		return;
	}
	for (size_t i = 0; i < reply->size; i++) {
		stream_entry_read(&reply->node[i], &found);
		if (found.position == position)
			own = &reply->node[i];
		else if (found.position + 1 == position)
			before = &reply->node[i];
	}
	if (before)
		stream_entry_read(before, &other);
	if (own) {
		stream_entry_read(own, &found);
		take_own(fleet, &found, before ? &other : NULL);
	}
	compare(fleet);
}

static void on_first(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct stream_entry found;
	bool there;

	if (read_one(fleet, "XRANGE", reply, &found, &there) && there)
		fleet->log.first = found.position;
}

/* The log has more than this host, or less, or something else. */
static void ask_more(struct fleet *fleet)
{
	struct request first = {0}, own = {0};
	unsigned long long position = fleet->view.fleet.position;

	request_words(&first, "XRANGE %slog - + COUNT 1", fleet->prefix);
	request_words(&own, "XRANGE %slog %llu-0 %llu-0", fleet->prefix,
		      position ? position - 1 : 0, position);
	fleet_ask(fleet, &first, 0, on_first);
	if (fleet->reader)
		fleet_ask(fleet, &own, 0, on_own);
}

static void read_last(const struct stream_entry *found, struct fleet_log *log)
{
	struct logentry entry = {0};

	log->first = log->end = found->position;
	log->known = !logentry_read(found->bytes, found->size, &entry);
	log->term = entry.term;
	memcpy(log->epoch, entry.epoch, XB_FLEET_ID);
	memcpy(log->chain, entry.chain, MAC_BYTES);
	logentry_free(&entry);
}

/* Most often the last entry is the one that this host has, which is all there is to know: ten
 * thousand hosts ask every few seconds, and an entry may be large. */
static void on_last(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_log *log = &fleet->log;
	struct stream_entry found;

	*log = (struct fleet_log){0};
	if (!read_one(fleet, "XREVRANGE", reply, &found, &log->any))
		return;
	if (log->any)
		read_last(&found, log);
	log->own = log->known && log->end == fleet->view.fleet.position &&
		   !memcmp(log->chain, fleet->view.fleet.chain, MAC_BYTES);
	if ((log->own && fleet->key_known) || !log->any) {
		compare(fleet);
		return;
	}
	log->own = false;
	memset(log->chain, 0, MAC_BYTES);
	ask_more(fleet);
}

void reading_check(struct fleet *fleet)
{
	struct request last = {0};

	if (fleet->checking || !fleet->connected)
		return;
	fleet_see(fleet);
	fleet->checking = true;
	request_words(&last, "XREVRANGE %slog + - COUNT 1", fleet->prefix);
	fleet_ask(fleet, &last, 0, on_last);
}

void reading_begin(struct fleet *fleet)
{
	fleet->checking = fleet->asked = false;
	follow_queue_clear(&fleet->queue);
	if (!fleet->count)
		fleet->count = COUNT;
	reading_check(fleet);
}
