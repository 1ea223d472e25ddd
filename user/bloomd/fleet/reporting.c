/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this host reports to the others and to people: the reports on the server, the state file and
 * the metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "engine/fleetstate.h"
#include "engine/tallies.h"
#include "store/lists.h"

#define SKEW_MOST   5.0	  /* seconds */
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

static void show_gauges(const struct fleet *fleet)
{
	const struct xb_paths *paths = &fleet->agent->paths;
	const char *name = fleet->config->name;
	uint64_t position = fleet->view.fleet.position;
	bool follows = fleet->connected && fleet->phase == FLEET_READING;

	xb_tally_set(paths, XB_TALLY_FLEET_CONNECTED, name, follows);
	xb_tally_set(paths, XB_TALLY_FLEET_LAG, name,
		     fleet->log.end > position ? fleet->log.end - position : 0);
	xb_tally_set(paths, XB_TALLY_FLEET_MESSAGE, name, (uint64_t)fleet->last_message);
}

void reporting_show(struct fleet *fleet)
{
	static const char *const causes[] = {"start", "begin",	 "epoch",    "list",
					     "asked", "trimmed", "bad-entry"};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_RESYNCS, causes[i], NULL, 0);
	show_gauges(fleet);
}

void reporting_end(struct fleet *fleet)
{
	if (!fleet->config || !fleet->joined)
		return;
	xb_tally_forget(&fleet->agent->paths, XB_TALLY_FLEET_CONNECTED, fleet->config->name);
	fleet->connected = false;
	reporting_save(fleet);
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
	char id[ID_TEXT];

	return json_pack("{s:s,s:I,s:I,s:s}", "list", resync->list, "before",
			 (json_int_t)resync->before, "after", (json_int_t)resync->after, "snapshot",
			 id_format(resync->held, id));
}

static json_t *state_json(const struct fleet *fleet)
{
	const struct xb_fleet *here = &fleet->view.fleet;
	const char *message = *fleet->message ? fleet->message : fleet->unpublished;
	char host[ID_TEXT], epoch[ID_TEXT];
	json_t *state =
		json_pack("{s:i,s:s,s:s,s:f,s:b,s:s,s:s,s:s,s:f,s:f}", "schema", 1, "name",
			  fleet->config->name, "host", id_format(here->host, host), "written",
			  fleet_time(), "connected", fleet->connected, "state",
			  phases[fleet->phase], "message", message, "outcome", fleet->outcome,
			  "since", fleet->since, "last_message", fleet->last_message);

	json_object_set_new(state, "epoch", json_string(id_format(here->epoch, epoch)));
	json_object_set_new(state, "term", json_integer((json_int_t)here->term));
	json_object_set_new(state, "position", json_integer((json_int_t)here->position));
	json_object_set_new(state, "log_end", json_integer((json_int_t)fleet->log.end));
	json_object_set_new(state, "outbox", json_integer((json_int_t)fleet->view.waiting));
	json_object_set_new(state, "skew", json_real(fleet->skew));
	json_object_set_new(state, "lists", lists_json(&fleet->view));
	json_object_set(state, "resyncs", fleet->resyncs);
	json_object_set_new(state, "hosts",
			    fleet->hosts ? json_incref(fleet->hosts) : json_array());
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
	json_decref(state);
	if (fleet->agent->loop)
		show_gauges(fleet);
}

/* --- the report --- */

static json_t *digests_json(const struct fleet *fleet, uint32_t at, struct xb_fleet *here)
{
	json_t *digests = json_object();
	struct xb_store *store;
	struct xb_txn *txn;
	const struct xb_share *shares;
	size_t count = 0;
	int error = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

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
	uint32_t at = (uint32_t)(fleet_time() / 10) * 10;
	struct xb_fleet here = fleet->view.fleet;
	json_t *digests = digests_json(fleet, at, &here), *report;
	char host[ID_TEXT], epoch[ID_TEXT], name[HOST_NAME + 1] = "";
	char *text;

	gethostname(name, HOST_NAME);
	xb_utf8_clean(name);
	report = json_pack("{s:s,s:s,s:I,s:I,s:s,s:f,s:I,s:o,s:I,s:o,s:s,s:s}", "host",
			   id_format(here.host, host), "name", name, "position",
			   (json_int_t)here.position, "term", (json_int_t)here.term, "epoch",
			   id_format(here.epoch, epoch), "time", fleet_time(), "at", (json_int_t)at,
			   "digests", digests, "outbox", (json_int_t)fleet->view.waiting, "lists",
			   names_json(&fleet->view), "version", XB_VERSION, "state",
			   phases[fleet->phase]);
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
	static const char *const numbers[] = {"position", "term", "time", "at", "outbox"};
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

static void on_reports(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (reply->kind != REPLY_ARRAY)
		return;
	fleet->hosts_due = agent_clock() + reply->size / 2 * HOST_EVERY;
	json_decref(fleet->hosts);
	fleet->hosts = json_array();
	for (size_t i = 0; i + 1 < reply->size && i < 2 * HOSTS_MOST; i += 2) {
		json_t *report = read_report(&reply->node[i + 1]);

		if (report)
			json_array_append_new(fleet->hosts, report);
	}
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

/* [seconds, microseconds]. What expires does so by each host's own clock. */
static void on_time(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	char seconds[24] = "", micros[24] = "";
	double skew;
	bool skewed;

	if (reply->kind != REPLY_ARRAY || reply->size != 2 || reply->node[0].kind != REPLY_STRING ||
	    reply->node[1].kind != REPLY_STRING || reply->node[0].size > 20 ||
	    reply->node[1].size > 20)
		return;
	memcpy(seconds, reply->node[0].text, reply->node[0].size);
	memcpy(micros, reply->node[1].text, reply->node[1].size);
	skew = fleet_time() - strtod(seconds, NULL) - strtod(micros, NULL) / 1e6;
	skewed = skew > SKEW_MOST || skew < -SKEW_MOST;
	if (skewed && !fleet->skewed)
		xb_warning("fleet: the clock of this host differs from the server's by %.0f s: "
			   "entries expire at other times than on other hosts",
			   skew);
	fleet->skewed = skewed;
	fleet->skew = skew;
}

void reporting_tick(struct fleet *fleet)
{
	struct request report = {0}, all = {0}, time = {0};
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
	request_word(&time, "TIME");
	error = request_send(&report, fleet->writer, 0, on_reported, fleet);
	if (!error && agent_clock() >= fleet->hosts_due)
		error = request_send(&all, fleet->writer, 0, on_reports, fleet);
	if (!error)
		error = request_send(&time, fleet->writer, 0, on_time, fleet);
	free(text);
	if (error)
		publishing_fail(fleet);
}
