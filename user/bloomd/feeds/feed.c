/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/feeds/feedplan.h"
#include "engine/stamp.h"

#define FETCHES 4 /* at once */
#define AGAIN	(FEED_SECOND / 5)
#define QUIET	FEED_SECOND /* that a file has to be left alone before it is read */

const struct feed_config *feed_configured(const struct feed *feed)
{
	return feed_config_find(feed->all->agent->config, feed->state.name);
}

void feed_sleep(struct feed *feed, uint64_t delay)
{
	feed->phase = FEED_SLEEPS;
	feed->leaving = false;
	sd_event_source_set_time_relative(feed->timer, delay);
	sd_event_source_set_enabled(feed->timer, SD_EVENT_ONESHOT);
}

void feed_wait_to_leave(struct feed *feed)
{
	sd_event_source_set_enabled(feed->timer, SD_EVENT_OFF);
	feed->phase = FEED_WAITS;
	feed->leaving = true;
}

/* A clock that was set back must not stop a feed. */
uint64_t feed_delay(const struct feed *feed, const struct feed_config *config)
{
	int64_t now = time(NULL), delay = feed->state.next_fetch - now;
	int64_t most = 2 * (int64_t)FEED_REFUSED_MAX + 2 * (int64_t)config->every;

	return delay <= 0 ? 0 : (uint64_t)(delay < most ? delay : most) * FEED_SECOND;
}

/* --- files --- */

/* Each change puts the fetch off, so that one file that comes in parts is read once. */
static void on_file(void *context)
{
	struct feed *feed = context;

	if (feed->phase == FEED_SLEEPS)
		feed_sleep(feed, QUIET);
	else
		feed->hurried = true;
}

void feed_unwatch(struct feed *feed)
{
	if (*feed->file)
		pathevents_stop(&feed->watch);
	*feed->file = '\0';
}

void feed_watch(struct feed *feed, const char *url)
{
	const char *path = strncmp(url, "file://", 7) ? "" : url + 7;

	if (*feed->file && !strcmp(feed->file, path)) {
		pathevents_renew(&feed->watch);
		return;
	}
	feed_unwatch(feed);
	if (!*path || strlen(path) >= sizeof(feed->file))
		return;
	snprintf(feed->file, sizeof(feed->file), "%s", path);
	pathevents_init(&feed->watch, feed->all->agent->loop, feed->file, on_file, feed);
	pathevents_renew(&feed->watch);
}

/* --- fetching --- */

static bool is_conditional(const struct feed *feed, const struct feed_config *config)
{
	const struct xb_feed_state *state = &feed->state;

	return state->last_import && !strcmp(feed->terms, state->terms) &&
	       feed_plan_lasts(state->last_import, (uint32_t)state->lasts, config->every,
			       time(NULL)) &&
	       xb_stamp_holds(feed->all->agent->paths.state, state->list, state->stamp);
}

static void on_fetched(void *context, const struct fetched *fetched)
{
	struct feed *feed = context;

	feed->all->fetching--;
	feed->fetched = *fetched;
	if (fetcher_missed(&fetched->result))
		agent_missed_server(feed->all->agent);
	feed->phase = FEED_WAITS;
	feed->all->look_for_work(feed->all);
}

/* What could not even be tried is an answer, too, and gets into the state. */
static void answer_for(struct feed *feed, enum fetch_outcome outcome, const char *detail)
{
	feed->fetched = (struct fetched){.result = {.outcome = outcome}, .body = -1};
	snprintf(feed->fetched.result.detail, FETCH_DETAIL_MAX, "%.*s", FETCH_DETAIL_MAX - 1,
		 detail);
	feed->phase = FEED_WAITS;
}

static void fetch(struct feed *feed)
{
	struct feeds *feeds = feed->all;
	const struct feed_config *config = feed_configured(feed);

	if (feeds->fetching >= FETCHES) {
		feed_sleep(feed, AGAIN);
		return;
	}
	feed->hurried = false;
	/* Before the file is opened, so that no change of it is missed. */
	feed_watch(feed, config->url);
	feed->conditional = is_conditional(feed, config);
	fetcher_stop(feed->fetcher);
	if (fetcher_start(feeds->agent, config, &feed->state, feed->conditional, on_fetched, feed,
			  &feed->fetcher)) {
		answer_for(feed,
			   strncmp(config->url, "file:", 5) != 0 ? FETCH_FAILED : FETCH_NO_FILE,
			   xb_error_message());
		feeds->look_for_work(feeds);
		return;
	}
	feed->phase = FEED_FETCHING;
	feeds->fetching++;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	struct feed *feed = context;

	(void)source;
	(void)time;
	if (!feed->removed) {
		fetch(feed);
		return 0;
	}
	feed_wait_to_leave(feed);
	feed->all->look_for_work(feed->all);
	return 0;
}

void feed_drop_answer(struct feed *feed)
{
	if (feed->phase == FEED_FETCHING)
		feed->all->fetching--;
	fetcher_stop(feed->fetcher);
	feed->fetcher = NULL;
	if (feed->fetched.body >= 0)
		close(feed->fetched.body);
	feed->fetched.body = -1;
}

void feed_free(struct feed *feed)
{
	feed_unwatch(feed);
	fetcher_stop(feed->fetcher);
	if (feed->fetched.body >= 0)
		close(feed->fetched.body);
	sd_event_source_disable_unref(feed->timer);
	free(feed);
}

struct feed *feed_add(struct feeds *feeds, const struct xb_feed_state *state)
{
	struct feed *feed = calloc(1, sizeof(*feed)), **at = &feeds->first;

	if (!feed) {
		xb_out_of_memory();
		return NULL;
	}
	feed->all = feeds;
	feed->state = *state;
	feed->fetched.body = -1;
	if (sd_event_add_time_relative(feeds->agent->loop, &feed->timer, CLOCK_BOOTTIME, 0,
				       FEED_SECOND / 20, on_time, feed) < 0 ||
	    sd_event_source_set_enabled(feed->timer, SD_EVENT_OFF) < 0) {
		feed_free(feed);
		return NULL;
	}
	while (*at)
		at = &(*at)->next;
	*at = feed;
	return feed;
}
