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
#include "bloomd/feeds/fetcher.h"

#define SECOND 1000000ULL /* us */
#define WINDOW 900	  /* seconds; the server expects this */

struct usage {
	struct agent *agent;
	const struct crowdsec_config *config;
	const struct bans *bans;
	struct fetcher *fetcher;
	sd_event_source *timer;
	int64_t started;
	bool ready;
	bool failed; /* it was told */
};

static json_t *count_of(uint64_t value, const char *family)
{
	return json_pack("{s:s,s:s,s:I,s:{s:s}}", "name", "active_decisions", "unit", "ip", "value",
			 (json_int_t)value, "labels", "ip_type", family);
}

static json_t *items_of(const struct bans *bans, uint32_t now)
{
	uint64_t four = 0, six = 0;

	for (size_t i = 0; i < bans->count; i++)
		if (bans->item[i].until > now)
			*(xb_entry_is_ipv6(&bans->item[i].entry) ? &six : &four) += 1;
	return json_pack("[o,o]", count_of(four, "ipv4"), count_of(six, "ipv6"));
}

static json_t *describe(const struct usage *usage, int64_t now)
{
	struct utsname system = {0};

	uname(&system);
	return json_pack("{s:[{s:s,s:s,s:[],s:{s:s,s:s},s:I,s:[{s:{s:i,s:I},s:o}]}]}",
			 "remediation_components", "type", "xdp-bloom", "version", "v" XB_VERSION,
			 "feature_flags", "os", "name", system.sysname, "version", system.release,
			 "utc_startup_timestamp", (json_int_t)usage->started, "metrics", "meta",
			 "window_size_seconds", WINDOW, "utc_now_timestamp", (json_int_t)now,
			 "items", items_of(usage->bans, (uint32_t)now));
}

/* Late by up to a tenth, so that not all machines come at once. */
static void wait_for_next(struct usage *usage)
{
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	sd_event_source_set_time_relative(usage->timer,
					  WINDOW * SECOND + random % (WINDOW * SECOND / 10));
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
	if (result->outcome == FETCH_TAKEN)
		usage->failed = false;
	else
		tell_failure(usage, result->detail);
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
