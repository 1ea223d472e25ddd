/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this host reports to the others and to people: the reports on the server, the state file and
 * the metrics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "engine/fleethosts.h"
#include "engine/fleetstate.h"
#include "engine/tallies.h"
#include "store/lists.h"
#include "store/outbox.h"

#define REPORT_MOST 65536 /* bytes */
#define HOSTS_MOST  10000
#define HOST_NAME   64
/* Us for each host that reports: what all of them ask for grows with the square of their number. */
#define HOST_EVERY (FLEET_SECOND / 2)

static const char *const phases[] = {
	[FLEET_CONNECTING] = "connecting", [FLEET_READING] = "reading",
	[FLEET_RESYNCING] = "resyncing",   [FLEET_REWINDING] = "rewinding",
	[FLEET_BEGINNING] = "beginning",   [FLEET_HELD] = "held",
	[FLEET_WAITING] = "waiting",	   [FLEET_FAILED] = "failed",
};

/* --- metrics --- */

/* The last position of the log, as far as it has one. */
static uint64_t end_of(const struct fleet *fleet)
{
	return fleet->log.end <= XB_FLEET_POSITION_MAX ? fleet->log.end
						       : fleet->view.fleet.position;
}

static void show_gauges(const struct fleet *fleet)
{
	const struct xb_paths *paths = &fleet->agent->paths;
	const char *name = fleet->config->name;
	uint64_t position = fleet->view.fleet.position, end = end_of(fleet);
	bool follows = fleet->connected && fleet_shown(fleet) == FLEET_READING;

	xb_tally_set(paths, XB_TALLY_FLEET_CONNECTED, name, follows);
	xb_tally_set(paths, XB_TALLY_FLEET_LAG, name, end > position ? end - position : 0);
	xb_tally_set(paths, XB_TALLY_FLEET_MESSAGE, name, (uint64_t)fleet->last_message);
	if (fleet->files_time)
		xb_tally_set(paths, XB_TALLY_FLEET_SNAPSHOT, name, fleet->files_time);
	xb_tally_set(paths, XB_TALLY_FLEET_OUTBOX, name, fleet->view.waiting);
	xb_tally_set(paths, XB_TALLY_FLEET_SKEW, name, (uint64_t)round(fabs(fleet->skew)));
}

static void show_hosts(const struct fleet *fleet, const json_t *state)
{
	const struct xb_paths *paths = &fleet->agent->paths;
	const json_t *hosts = json_object_get(state, "hosts"), *own = xb_fleet_own_report(state);
	size_t count = json_array_size(hosts), silent = 0, differing = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int judged = xb_fleet_judge(state, own, json_array_get(hosts, i));

		silent += !!(judged & XB_HOST_SILENT);
		differing += !!(judged & XB_HOST_DIFFERS);
	}
	xb_tally_set(paths, XB_TALLY_FLEET_HOSTS, fleet->config->name, count);
	xb_tally_set(paths, XB_TALLY_FLEET_SILENT, fleet->config->name, silent);
	xb_tally_set(paths, XB_TALLY_FLEET_DIFFERING, fleet->config->name, differing);
}

void reporting_show(struct fleet *fleet)
{
	static const char *const causes[] = {"start",	"begin",     "epoch", "list", "asked",
					     "trimmed", "bad-entry", "clock", "newer"};
	static const char *const refused[] = {"entry", "snapshot", "answer"};
	const struct xb_paths *paths = &fleet->agent->paths;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		xb_tally_add(paths, XB_TALLY_FLEET_RESYNCS, causes[i], NULL, 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		xb_tally_add(paths, XB_TALLY_FLEET_REFUSED, refused[i], NULL, 0);
	show_gauges(fleet);
}

void reporting_end(struct fleet *fleet)
{
	if (!fleet->config || !fleet->joined)
		return;
	fleet->connected = false;
	reporting_save(fleet);
	xb_tally_forget(&fleet->agent->paths, XB_TALLY_FLEET_CONNECTED, fleet->config->name);
}

/* --- the state --- */

static const char *digest_format(const struct xb_digest *digest, char text[ID_TEXT])
{
	snprintf(text, ID_TEXT, "%016llx%016llx", (unsigned long long)digest->half[1],
		 (unsigned long long)digest->half[0]);
	return text;
}

static json_t *lists_json(const struct fleet_view *view)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < view->shares; i++) {
		const struct xb_share *share = &view->share[i];
		char digest[ID_TEXT];

		json_array_append_new(lists,
				      json_pack("{s:s,s:b,s:b,s:b,s:I,s:s}", "name", share->list,
						"publish", !!(share->flags & XB_SHARE_PUBLISH),
						"follow", !!(share->flags & XB_SHARE_FOLLOW),
						"joined", !!(share->flags & XB_SHARE_JOINED),
						"entries", (json_int_t)view->entries[i], "digest",
						digest_format(&share->digest, digest)));
	}
	return lists;
}

static json_t *held_json(const struct fleet_resync *resync)
{
	json_t *lists = json_array();
	char id[ID_TEXT];

	for (size_t i = 0; i < resync->shrink_count; i++) {
		const struct snapshot_shrink *shrink = &resync->shrinks[i];

		json_array_append_new(lists, json_pack("{s:s,s:I,s:I}", "list", shrink->list,
						       "before", (json_int_t)shrink->before,
						       "after", (json_int_t)shrink->after));
	}
	return json_pack("{s:o,s:s}", "lists", lists, "snapshot", id_format(resync->held.id, id));
}

/* The worst of what is wrong. */
static const char *message_of(const struct fleet *fleet, char text[256])
{
	text[0] = '\0';
	if (*fleet->message)
		return fleet->message;
	if (*fleet->unpublished)
		return fleet->unpublished;
	if (*fleet->snapshots.why)
		snprintf(text, 256, "cannot make a snapshot: %s", fleet->snapshots.why);
	return text;
}

static json_t *state_json(const struct fleet *fleet)
{
	const struct xb_fleet *here = &fleet->view.fleet;
	char text[256];
	const char *message = message_of(fleet, text);
	char host[ID_TEXT], epoch[ID_TEXT];
	json_t *state =
		json_pack("{s:i,s:s,s:s,s:f,s:b,s:s,s:s,s:s,s:f,s:f}", "schema", 1, "name",
			  fleet->config->name, "host", id_format(here->host, host), "written",
			  clock_now(), "connected", fleet->connected, "state",
			  phases[fleet_shown(fleet)], "message", message, "outcome", fleet->outcome,
			  "since", fleet->since, "last_message", fleet->last_message);

	json_object_set_new(state, "epoch", json_string(id_format(here->epoch, epoch)));
	json_object_set_new(state, "term", json_integer((json_int_t)here->term));
	json_object_set_new(state, "position", json_integer((json_int_t)here->position));
	json_object_set_new(state, "log_end", json_integer((json_int_t)end_of(fleet)));
	json_object_set_new(state, "outbox", json_integer((json_int_t)fleet->view.waiting));
	json_object_set_new(state, "skew", json_real(fleet->skew));
	json_object_set_new(state, "files", json_integer((json_int_t)fleet->files_time));
	json_object_set_new(state, "lists", lists_json(&fleet->view));
	json_object_set(state, "resyncs", fleet->resyncs);
	json_object_set_new(state, "reports_read", json_real(fleet->reports_read));
	json_object_set_new(state, "hosts",
			    fleet->hosts ? json_incref(fleet->hosts) : json_array());
	if (fleet->former)
		json_object_set(state, "former", fleet->former);
	if (fleet->phase == FLEET_HELD)
		json_object_set_new(state, "held", held_json(&fleet->resync));
	return state;
}

void reporting_save(struct fleet *fleet)
{
	json_t *state;

	if (!fleet->config || !fleet->joined)
		return;
	state = state_json(fleet);
	if (!state || xb_fleet_state_write(&fleet->agent->paths, state))
		log_error("fleet");
	show_gauges(fleet);
	show_hosts(fleet, state);
	json_decref(state);
}

/* --- the report --- */

/* With the position and what waits at the same moment. */
static json_t *digests_json(const struct fleet *fleet, uint32_t at, struct xb_fleet *here,
			    uint64_t *waiting)
{
	uint64_t first, last;
	json_t *digests = json_object();
	struct xb_store *store;
	struct xb_txn *txn;
	const struct xb_share *shares;
	size_t count = 0;
	int error = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	if (!error)
		error = xb_outbox_span(txn, waiting, &first, &last);
	shares = error || xb_fleet_get(txn, here) <= 0 ? NULL : xb_shares(txn, &count);
	for (size_t i = 0; shares && i < count; i++) {
		struct xb_digest digest;
		char text[ID_TEXT];

		if (!xb_share_digest(txn, &shares[i], at, &digest))
			json_object_set_new(digests, shares[i].list,
					    json_string(digest_format(&digest, text)));
	}
	xb_store_end_reading(store, txn);
	return digests;
}

static json_t *names_json(const struct fleet_view *view)
{
	json_t *names = json_array();

	for (size_t i = 0; i < view->shares; i++)
		json_array_append_new(names, json_string(view->share[i].list));
	return names;
}

static char *report_text(const struct fleet *fleet)
{
	uint32_t at = (uint32_t)(clock_now() / 10) * 10;
	struct xb_fleet here = fleet->view.fleet;
	uint64_t waiting = fleet->view.waiting;
	json_t *digests = digests_json(fleet, at, &here, &waiting), *report;
	char host[ID_TEXT], epoch[ID_TEXT], name[HOST_NAME + 1] = "";
	char *text;

	gethostname(name, HOST_NAME);
	xb_utf8_clean(name);
	report = json_pack("{s:s,s:s,s:I,s:I,s:s,s:f,s:I,s:o,s:I,s:o,s:s,s:s,s:f}", "host",
			   id_format(here.host, host), "name", name, "position",
			   (json_int_t)here.position, "term", (json_int_t)here.term, "epoch",
			   id_format(here.epoch, epoch), "time", clock_now(), "at", (json_int_t)at,
			   "digests", digests, "outbox", (json_int_t)waiting, "lists",
			   names_json(&fleet->view), "version", XB_VERSION, "state",
			   phases[fleet_shown(fleet)], "skew", fleet->skew);
	text = json_dumps(report, JSON_COMPACT);
	json_decref(report);
	return text;
}

/* --- what others report --- */

static void clean_text(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	char shown[256];

	json_object_set_new(
		object, key,
		json_string(text ? xb_utf8_show(text, strlen(text) + 1, shown, sizeof(shown))
				 : ""));
}

static void keep_number(json_t *object, const char *key)
{
	if (!json_is_number(json_object_get(object, key)))
		json_object_set_new(object, key, json_integer(0));
}

/* What somebody wrote there: names of lists that are none go. */
static json_t *clean_lists(json_t *from)
{
	json_t *lists = json_array(), *item;
	size_t i;

	json_array_foreach(from, i, item)
	{
		const char *name = json_string_value(item);

		if (name && i < XB_SHARES_MAX && xb_list_name_ok(name))
			json_array_append(lists, item);
	}
	return lists;
}

static json_t *clean_digests(json_t *from)
{
	json_t *digests = json_object(), *item;
	const char *list;

	json_object_foreach(from, list, item)
	{
		const char *text = json_string_value(item);

		if (text && xb_list_name_ok(list) && strlen(text) < ID_TEXT &&
		    strspn(text, "0123456789abcdef") == strlen(text))
			json_object_set(digests, list, item);
	}
	return digests;
}

static json_t *read_report(const struct server_reply *value)
{
	static const char *const texts[] = {"host", "name", "epoch", "version", "state"};
	static const char *const numbers[] = {"position", "term", "time", "at", "outbox", "skew"};
	json_error_t error;
	json_t *report, *clean;

	if (value->kind != REPLY_STRING || value->size > REPORT_MOST)
		return NULL;
	report = json_loadb(value->text, value->size, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(report)) {
		json_decref(report);
		return NULL;
	}
	clean = json_object();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_object_set(clean, texts[i], json_object_get(report, texts[i]));
		clean_text(clean, texts[i]);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		json_object_set(clean, numbers[i], json_object_get(report, numbers[i]));
		keep_number(clean, numbers[i]);
	}
	json_object_set_new(clean, "lists", clean_lists(json_object_get(report, "lists")));
	json_object_set_new(clean, "digests", clean_digests(json_object_get(report, "digests")));
	json_decref(report);
	return clean;
}

/* A host is silent when its report stays the same: the clock by which it says the time may be
 * wrong.
 */
static void set_seen(const json_t *before, json_t *report)
{
	const json_t *former =
		json_object_get(before, json_string_value(json_object_get(report, "host")) ?: "");
	double now = clock_now(), time = json_number_value(json_object_get(report, "time"));

	if (former && json_equal(json_object_get(former, "time"), json_object_get(report, "time")))
		json_object_set(report, "seen", json_object_get(former, "seen"));
	else
		json_object_set_new(report, "seen", json_real(former || time > now ? now : time));
}

/* By host. */
static json_t *index_of(const json_t *hosts)
{
	json_t *index = json_object();

	for (size_t i = 0; i < json_array_size(hosts); i++) {
		json_t *report = json_array_get(hosts, i);

		json_object_set(index, json_string_value(json_object_get(report, "host")), report);
	}
	return index;
}

/* Others may not have reported since: their last reports are as of the time of this host's former.
 */
static void keep_former(struct fleet *fleet, json_t *before)
{
	char id[ID_TEXT];
	const char *host = id_format(fleet->view.fleet.host, id);
	json_t *former = json_object_get(before, host), *now = index_of(fleet->hosts);
	const json_t *own = json_object_get(now, host);

	if (former && own &&
	    !json_equal(json_object_get(former, "at"), json_object_get(own, "at"))) {
		json_decref(fleet->former);
		fleet->former = json_incref(former);
	}
	json_decref(now);
}

static void on_reports(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	json_t *before;

	fleet->reports_asked = false;
	if (reply->kind != REPLY_ARRAY)
		return;
	before = index_of(fleet->hosts);
	fleet->hosts_due = agent_clock() + reply->size / 2 * HOST_EVERY;
	fleet->reports_large = false;
	json_decref(fleet->hosts);
	fleet->hosts = json_array();
	fleet->reports_read = clock_now();
	for (size_t i = 0; i + 1 < reply->size && i < 2 * HOSTS_MOST; i += 2) {
		json_t *report = read_report(&reply->node[i + 1]);

		if (!report)
			continue;
		set_seen(before, report);
		json_array_append_new(fleet->hosts, report);
	}
	keep_former(fleet, before);
	json_decref(before);
	reporting_save(fleet);
}

static void on_reported(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (reply->kind == REPLY_ERROR && !fleet->reports_denied) {
		xb_notice("fleet: the server takes no report of this host: %s",
			  xb_utf8_show(reply->text, reply->size, (char[128]){0}, 128));
		fleet->reports_denied = true;
	} else if (reply->kind != REPLY_ERROR) {
		fleet->reports_denied = false;
	}
}

/* Positions have no gaps, so the length says where the log begins, without an entry that may be
 * large. */
static void on_length(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	uint64_t end = end_of(fleet);

	if (reply->kind == REPLY_NUMBER && reply->number > 0 && (uint64_t)reply->number <= end)
		fleet->snapshots.log_first = end - (uint64_t)reply->number + 1;
	else
		fleet->snapshots.log_first = 0;
}

void reporting_tick(struct fleet *fleet)
{
	struct request report = {0}, all = {0}, length = {0};
	char host[ID_TEXT], *text;
	int error;

	reporting_save(fleet);
	if (!fleet->writable)
		return;
	text = report_text(fleet);
	if (!text)
		return;
	request_words(&report, "HSET %sreports %s", fleet->prefix,
		      id_format(fleet->view.fleet.host, host));
	request_bytes(&report, text, strlen(text));
	request_words(&all, "HGETALL %sreports", fleet->prefix);
	request_words(&length, "XLEN %slog", fleet->prefix);
	error = request_send(&report, fleet->writer, 0, on_reported, fleet);
	if (!error && agent_clock() >= fleet->hosts_due) {
		fleet->reports_asked = true;
		error = request_send(&all, fleet->writer, 0, on_reports, fleet);
	}
	if (!error)
		error = clock_ask(fleet);
	if (!error && fleet_has_all(fleet))
		error = request_send(&length, fleet->writer, 0, on_length, fleet);
	free(text);
	if (error)
		publishing_fail(fleet);
}
