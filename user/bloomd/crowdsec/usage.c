/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POST /v1/usage-metrics, in CrowdSec from 1.6.3 on. */
#include "bloomd/crowdsec/usage.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "bloomd/base/log.h"
#include "bloomd/crowdsec/csdrops.h"
#include "bloomd/feeds/fetcher.h"

#define SECOND 1000000ULL /* us */

struct usage {
	struct agent *agent;
	const struct crowdsec_config *config;
	const struct bans *bans;
	struct fetcher *fetcher;
	sd_event_source *timer;
	int64_t started;
	struct csdrops told, telling; /* as of the last report, and of the one under way */
	bool counts;		      /* told is known */
	bool ready;
	bool failed; /* it was told */
};

/* family: "ipv4", "ipv6", or NULL: both. */
static void add_item(json_t *items, const char *name, const char *unit, uint64_t value,
		     const char *family)
{
	json_array_append_new(items,
			      json_pack("{s:s,s:s,s:I,s:{s:s*}}", "name", name, "unit", unit,
					"value", (json_int_t)value, "labels", "ip_type", family));
}

static void add_counts(json_t *items, const char *name, struct xb_count count, const char *family)
{
	add_item(items, name, "packet", count.packets, family);
	add_item(items, name, "byte", count.bytes, family);
}

static void add_decisions(json_t *items, const struct bans *bans, uint32_t now)
{
	uint64_t four = 0, six = 0;

	for (size_t i = 0; i < bans->count; i++)
		if (bans->item[i].until > now)
			*(xb_entry_is_ipv6(&bans->item[i].entry) ? &six : &four) += 1;
	add_item(items, "active_decisions", "ip", four, "ipv4");
	add_item(items, "active_decisions", "ip", six, "ipv6");
}

static void add_drops(json_t *items, const struct csdrops *drops)
{
	add_counts(items, "processed", drops->processed, NULL);
	if (drops->kind == CSDROPS_TOGETHER)
		add_counts(items, "dropped", drops->ipv4, NULL);
	if (drops->kind != CSDROPS_BY_FAMILY)
		return;
	add_counts(items, "dropped", drops->ipv4, "ipv4");
	add_counts(items, "dropped", drops->ipv6, "ipv6");
}

/* What the filter has counted since the server was told; the first report begins it. */
static bool read_drops(struct usage *usage, struct csdrops *between)
{
	if (csdrops_read(&usage->agent->paths, crowdsec_config_list(usage->config),
			 &usage->telling)) {
		log_error("crowdsec: metrics of use");
		usage->telling = usage->told;
		return false;
	}
	if (!usage->counts)
		usage->told = usage->telling;
	usage->counts = true;
	*between = csdrops_since(&usage->telling, &usage->told);
	return true;
}

static json_t *items_of(struct usage *usage, uint32_t now)
{
	json_t *items = json_array();
	struct csdrops between;

	add_decisions(items, usage->bans, now);
	if (read_drops(usage, &between))
		add_drops(items, &between);
	return items;
}

static json_t *describe(struct usage *usage, int64_t now)
{
	struct utsname system = {0};

	uname(&system);
	return json_pack("{s:[{s:s,s:s,s:[],s:{s:s,s:s},s:I,s:[{s:{s:i,s:I},s:o}]}]}",
			 "remediation_components", "type", "xdp-bloom", "version", "v" XB_VERSION,
			 "feature_flags", "os", "name", system.sysname, "version", system.release,
			 "utc_startup_timestamp", (json_int_t)usage->started, "metrics", "meta",
			 "window_size_seconds", (int)usage->config->usage_every,
			 "utc_now_timestamp", (json_int_t)now, "items",
			 items_of(usage, (uint32_t)now));
}

/* Late by up to a tenth, so that not all machines come at once. */
static void wait_for_next(struct usage *usage)
{
	uint64_t period = usage->config->usage_every * SECOND;
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	sd_event_source_set_time_relative(usage->timer, period + random % (period / 10));
	sd_event_source_set_enabled(usage->timer, SD_EVENT_ONESHOT);
}

static void tell_failure(struct usage *usage, const char *why)
{
	if (!usage->failed)
		xb_warning("crowdsec: the metrics of use were not taken: %s", why);
	usage->failed = true;
}

static void on_answer(void *context, const struct fetched *fetched)
{
	const struct fetch_result *result = &fetched->result;
	struct usage *usage = context;

	if (fetched->body >= 0)
		close(fetched->body);
	if (result->status == 404) {
		log_info("crowdsec: the server takes no metrics of use");
		return;
	}
	if (result->outcome == FETCH_TAKEN) {
		usage->failed = false;
		usage->told = usage->telling;
	} else {
		tell_failure(usage, result->detail);
	}
	wait_for_next(usage);
}

static int post(struct usage *usage)
{
	struct fetch_request *request = malloc(sizeof(*request));
	json_t *all = describe(usage, time(NULL));
	char *text = json_dumps(all, JSON_COMPACT);
	int error = -EIO;

	json_decref(all);
	if (!request || !text)
		error = xb_out_of_memory();
	else if (strlen(text) >= FETCH_POST_MAX)
		error = xb_system_error(0, "they are too long");
	if (request && text && strlen(text) < FETCH_POST_MAX) {
		crowdsec_config_ask(usage->config, request);
		request->kind = FETCH_POST;
		strcpy(request->post, text);
		snprintf(request->url, sizeof(request->url), "%.*s/v1/usage-metrics",
			 FETCH_URL_MAX - 32, usage->config->url);
		error = fetcher_ask(usage->agent, request, on_answer, usage, &usage->fetcher);
	}
	free(request);
	free(text);
	return error;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	struct usage *usage = context;

	(void)source;
	(void)time;
	fetcher_stop(usage->fetcher);
	usage->fetcher = NULL;
	if (post(usage)) {
		tell_failure(usage, xb_error_message());
		wait_for_next(usage);
	}
	return 0;
}

int usage_start(struct agent *agent, const struct crowdsec_config *config, const struct bans *bans,
		struct usage **out)
{
	struct usage *usage = calloc(1, sizeof(*usage));
	int error;

	*out = usage;
	if (!usage)
		return xb_out_of_memory();
	*usage = (struct usage){
		.agent = agent, .config = config, .bans = bans, .started = time(NULL)};
	error = sd_event_add_time_relative(agent->loop, &usage->timer, CLOCK_BOOTTIME, 0, SECOND,
					   on_time, usage);
	if (error >= 0)
		error = sd_event_source_set_enabled(usage->timer, SD_EVENT_OFF);
	return error < 0 ? xb_system_error(-error, "cannot make a timer") : 0;
}

void usage_ready(struct usage *usage)
{
	if (!usage || usage->ready)
		return;
	usage->ready = true;
	sd_event_source_set_time_relative(usage->timer, 0);
	sd_event_source_set_enabled(usage->timer, SD_EVENT_ONESHOT);
}

void usage_moved(struct usage *usage, const struct crowdsec_config *config)
{
	if (usage)
		usage->config = config;
}

void usage_stop(struct usage *usage)
{
	if (!usage)
		return;
	fetcher_stop(usage->fetcher);
	sd_event_source_disable_unref(usage->timer);
	free(usage);
}
