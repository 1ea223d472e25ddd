/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A feed sleeps until its time, is fetched by one process, waits for its turn, and is imported by
 * another. What the second one found is in the state file afterwards. */
#include "bloomd/feeds/feeds.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "bloomd/feeds/feedconfig.h"
#include "bloomd/feeds/feedplan.h"
#include "bloomd/feeds/feedtally.h"
#include "bloomd/feeds/feedwork.h"
#include "bloomd/feeds/fetcher.h"
#include "bloomd/base/log.h"
#include "bloomd/base/pathevents.h"
#include "store/lists.h"
#include "store/store.h"

#define SECOND	 1000000ULL /* us */
#define FETCHES	 4	    /* at once */
#define AGAIN	 (SECOND / 5)
#define QUIET	 SECOND /* that a file has to be left alone before it is read */
#define PATIENCE 120	/* seconds that an import waits for other writers */

enum phase {
	SLEEPS,	   /* until the timer */
	FETCHING,  /* `fetcher` runs */
	WAITS,	   /* for its turn, with `fetched`; or to be removed */
	IMPORTING, /* by the worker */
};

struct feed {
	struct feed *next;
	struct feeds *all;
	struct xb_feed_state state;
	char terms[sizeof(((struct xb_feed_state *)0)->terms)]; /* as configured */
	enum phase phase;
	sd_event_source *timer;
	struct fetcher *fetcher;
	struct fetched fetched;
	bool conditional;
	bool removed;	     /* from the configuration */
	bool removing;	     /* the worker empties its list */
	bool hurried;	     /* to be fetched again at once */
	char file[PATH_MAX]; /* that is watched; empty: none is */
	struct pathevents watch;
};

struct feeds {
	struct agent *agent;
	struct feed *first;
	unsigned int fetching;
	struct feed *imported; /* by the worker; NULL: there is none */
	sd_event_source *worker;
};

static void look_for_work(struct feeds *feeds);

static const struct feed_config *config_of(const struct feed *feed)
{
	return feed_config_find(feed->all->agent->config, feed->state.name);
}

static void sleep_for(struct feed *feed, uint64_t delay)
{
	feed->phase = SLEEPS;
	sd_event_source_set_time_relative(feed->timer, delay);
	sd_event_source_set_enabled(feed->timer, SD_EVENT_ONESHOT);
}

/* A clock that was set back must not stop a feed. */
static uint64_t delay_of(const struct feed *feed, const struct feed_config *config)
{
	int64_t now = time(NULL), delay = feed->state.next_fetch - now;
	int64_t most = 2 * (int64_t)FEED_REFUSED_MAX + 2 * (int64_t)config->every;

	return delay <= 0 ? 0 : (uint64_t)(delay < most ? delay : most) * SECOND;
}

/* --- files --- */

/* Each change puts the fetch off, so that one file that comes in parts is read once. */
static void on_file(void *context)
{
	struct feed *feed = context;

	if (feed->phase == SLEEPS)
		sleep_for(feed, QUIET);
	else
		feed->hurried = true;
}

static void unwatch(struct feed *feed)
{
	if (*feed->file)
		pathevents_stop(&feed->watch);
	*feed->file = '\0';
}

/* Watches the file of the feed, if it is one. One whose path is too long cannot be read either. */
static void watch(struct feed *feed, const char *url)
{
	const char *path = strncmp(url, "file://", 7) ? "" : url + 7;

	if (*feed->file && !strcmp(feed->file, path)) {
		pathevents_renew(&feed->watch);
		return;
	}
	unwatch(feed);
	if (!*path || strlen(path) >= sizeof(feed->file))
		return;
	snprintf(feed->file, sizeof(feed->file), "%s", path);
	pathevents_init(&feed->watch, feed->all->agent->loop, feed->file, on_file, feed);
	pathevents_renew(&feed->watch);
}

static void free_feed(struct feed *feed)
{
	unwatch(feed);
	fetcher_stop(feed->fetcher);
	if (feed->fetched.body >= 0)
		close(feed->fetched.body);
	sd_event_source_disable_unref(feed->timer);
	free(feed);
}

static void unlink_feed(struct feed *feed)
{
	struct feed **at = &feed->all->first;

	while (*at != feed)
		at = &(*at)->next;
	*at = feed->next;
	free_feed(feed);
}

/* --- fetching --- */

/* Whether the store has what the last import has put there. */
static bool list_is_whole(const struct agent *agent, const struct xb_feed_state *state)
{
	struct xb_store *store;
	struct xb_txn *txn;
	const struct xb_list *list;
	bool whole;

	if (xb_store_begin_reading(agent->paths.state, &store, &txn)) {
		xb_error_clear();
		return false;
	}
	list = xb_list_find(txn, state->list);
	whole = list && list->members == (uint64_t)state->entries;
	xb_store_end_reading(store, txn);
	return whole;
}

static bool is_conditional(const struct feed *feed, const struct feed_config *config)
{
	const struct xb_feed_state *state = &feed->state;

	return state->last_import && !strcmp(feed->terms, state->terms) &&
	       feed_plan_lasts(state->last_import, config->timeout, config->every, time(NULL)) &&
	       list_is_whole(feed->all->agent, state);
}

static void on_fetched(void *context, const struct fetched *fetched)
{
	struct feed *feed = context;

	feed->all->fetching--;
	feed->fetched = *fetched;
	feed->phase = WAITS;
	look_for_work(feed->all);
}

/* What could not even be tried is an answer, too, and gets into the state. */
static void answer_for(struct feed *feed, enum fetch_outcome outcome, const char *detail)
{
	feed->fetched = (struct fetched){.result = {.outcome = outcome}, .body = -1};
	snprintf(feed->fetched.result.detail, FETCH_DETAIL_MAX, "%.*s", FETCH_DETAIL_MAX - 1,
		 detail);
	feed->phase = WAITS;
}

static void fetch(struct feed *feed)
{
	struct feeds *feeds = feed->all;
	const struct feed_config *config = config_of(feed);

	if (feeds->fetching >= FETCHES) {
		sleep_for(feed, AGAIN);
		return;
	}
	feed->hurried = false;
	/* Before the file is opened, so that no change of it is missed. */
	watch(feed, config->url);
	feed->conditional = is_conditional(feed, config);
	fetcher_stop(feed->fetcher);
	if (fetcher_start(feeds->agent, config, &feed->state, feed->conditional, on_fetched, feed,
			  &feed->fetcher)) {
		answer_for(feed,
			   strncmp(config->url, "file:", 5) != 0 ? FETCH_FAILED : FETCH_NO_FILE,
			   xb_error_message());
		look_for_work(feeds);
		return;
	}
	feed->phase = FETCHING;
	feeds->fetching++;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	fetch(context);
	return 0;
}

/* --- importing --- */

/* In the process of its own. */
static _Noreturn void work(struct feed *feed)
{
	const struct agent *agent = feed->all->agent;
	struct feed_work work = {.paths = &agent->paths,
				 .feed = config_of(feed),
				 .state = feed->state,
				 .fetched = &feed->fetched,
				 .conditional = feed->conditional,
				 .taken_over = feed_config_fills(agent->config, feed->state.list)};
	int error;

	xb_patience_set(PATIENCE);
	error = feed->removing ? feedwork_remove(&work) : feedwork_run(&work);
	if (error)
		log_error(feed->state.name);
	_exit(error ? 3 : 0);
}

static void drop_answer(struct feed *feed)
{
	if (feed->phase == FETCHING)
		feed->all->fetching--;
	fetcher_stop(feed->fetcher);
	feed->fetcher = NULL;
	if (feed->fetched.body >= 0)
		close(feed->fetched.body);
	feed->fetched.body = -1;
}

/* The worker has ended, and the feed is in no configuration any more. */
static void finish_removed(struct feed *feed, bool removing, bool well)
{
	if (!removing) {
		feed->removed = true;
		feed->phase = WAITS;
		return;
	}
	if (well)
		feed_tally_forget(&feed->all->agent->paths, &feed->state);
	unlink_feed(feed);
}

static void finish(struct feed *feed, bool well)
{
	const struct agent *agent = feed->all->agent;
	const struct feed_config *config = config_of(feed);
	bool removing = feed->removing;
	struct xb_feed_state state;

	drop_answer(feed);
	feed->removing = false;
	if (!config) {
		finish_removed(feed, removing, well);
		return;
	}
	if (well && !xb_feed_state_read(agent->paths.state, feed->state.name, &state)) {
		feed->state = state;
		feed_tally_count(&agent->paths, &state);
	} else {
		xb_error_clear();
		feed->state.next_fetch = time(NULL) + FEED_RETRY;
	}
	sleep_for(feed, feed->hurried || removing ? 0 : delay_of(feed, config));
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct feeds *feeds = context;
	struct feed *feed = feeds->imported;
	bool well = info->si_code == CLD_EXITED && !info->si_status;

	(void)source;
	feeds->worker = sd_event_source_disable_unref(feeds->worker);
	feeds->imported = NULL;
	if (info->si_code != CLD_EXITED)
		xb_warning("feed %s: the import ended with signal %d; trying again",
			   feed->state.name, info->si_status);
	finish(feed, well);
	look_for_work(feeds);
	return 0;
}

static void start_work(struct feed *feed)
{
	struct feeds *feeds = feed->all;
	pid_t child;

	feed->removing = feed->removed;
	child = agent_fork();
	if (!child)
		work(feed);
	if (child < 0 || sd_event_add_child(feeds->agent->loop, &feeds->worker, child, WEXITED,
					    on_worked, feeds) < 0) {
		xb_warning("feed %s: no process can be started; trying again", feed->state.name);
		finish(feed, false);
		return;
	}
	feed->phase = IMPORTING;
	feeds->imported = feed;
}

static void look_for_work(struct feeds *feeds)
{
	struct feed *next;

	for (struct feed *feed = feeds->first; feed && !feeds->imported; feed = next) {
		next = feed->next;
		if (feed->phase == WAITS)
			start_work(feed);
	}
}

/* --- configuration --- */

static struct feed *find(const struct feeds *feeds, const char *name)
{
	struct feed *feed = feeds->first;

	while (feed && strcmp(feed->state.name, name))
		feed = feed->next;
	return feed;
}

static struct feed *add(struct feeds *feeds, const struct xb_feed_state *state)
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
				       SECOND / 20, on_time, feed) < 0 ||
	    sd_event_source_set_enabled(feed->timer, SD_EVENT_OFF) < 0) {
		free_feed(feed);
		return NULL;
	}
	while (*at)
		at = &(*at)->next;
	*at = feed;
	return feed;
}

/* So that `bloomctl feeds` shows it before it was fetched, and its removal does as it says now. */
static void note(struct feed *feed, const struct feed_config *config)
{
	struct xb_feed_state *state = &feed->state;
	bool filled = state->last_import;

	if (state->next_fetch && state->period == config->every && state->flush == config->flush)
		return;
	if (!filled)
		snprintf(state->list, sizeof(state->list), "%s", feed_config_list(config));
	state->period = config->every;
	state->flush = config->flush;
	if (!state->next_fetch)
		state->next_fetch = time(NULL);
	if (xb_feed_state_write(feed->all->agent->paths.state, state))
		log_error(NULL);
}

/* A configuration comes to many machines at once. */
static uint64_t first_delay(void)
{
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	return random % SECOND;
}

static void begin(struct feeds *feeds, const struct feed_config *config)
{
	struct xb_feed_state state;
	struct feed *feed;
	bool fresh, changed;

	if (xb_feed_state_read(feeds->agent->paths.state, config->name, &state))
		xb_error_clear();
	fresh = !state.last_attempt;
	feed = add(feeds, &state);
	if (!feed) {
		log_error(config->name);
		return;
	}
	note(feed, config);
	watch(feed, config->url);
	feed_tally_show(&feeds->agent->paths, &feed->state);
	feed_config_terms(config, feed->terms);
	changed = state.last_import && strcmp(feed->terms, state.terms) != 0;
	if (changed)
		sleep_for(feed, 0);
	else
		sleep_for(feed, fresh ? first_delay() : delay_of(feed, config));
}

/* The configuration of a feed that goes on may be another now. */
static void renew(struct feed *feed, const struct feed_config *config)
{
	char terms[sizeof(feed->terms)];
	bool removed = feed->removed, changed;

	feed->removed = false;
	note(feed, config);
	watch(feed, config->url);
	feed_tally_show(&feed->all->agent->paths, &feed->state);
	feed_config_terms(config, terms);
	changed = strcmp(terms, feed->terms) != 0;
	memcpy(feed->terms, terms, sizeof(terms));
	if (feed->phase == IMPORTING) {
		feed->hurried = changed;
	} else if (changed || removed || feed->phase == SLEEPS) {
		/* What came belongs to the former configuration. */
		drop_answer(feed);
		sleep_for(feed, changed ? 0 : delay_of(feed, config));
	}
}

static void remove_feed(struct feed *feed)
{
	feed->removed = true;
	unwatch(feed);
	if (feed->phase == IMPORTING)
		return;
	drop_answer(feed);
	sd_event_source_set_enabled(feed->timer, SD_EVENT_OFF);
	feed->phase = WAITS;
}

/* The bouncer keeps its state beside those of the feeds; without one in the configuration, it is a
 * feed that was removed. */
static bool is_of_crowdsec(const struct feeds *feeds, const char *name)
{
	return feeds->agent->config->crowdsec && !strcmp(name, CONFIG_CROWDSEC);
}

/* Of feeds that were removed while bloomd did not run, too. */
static void find_removed(struct feeds *feeds)
{
	struct xb_feed_state *states;
	size_t count;

	if (xb_feed_states_read(feeds->agent->paths.state, &states, &count))
		log_error(NULL);
	for (size_t i = 0; i < count; i++) {
		struct feed *feed = find(feeds, states[i].name);

		if (feed_config_find(feeds->agent->config, states[i].name) ||
		    is_of_crowdsec(feeds, states[i].name))
			continue;
		if (!feed)
			feed = add(feeds, &states[i]);
		if (feed)
			remove_feed(feed);
	}
	free(states);
}

void feeds_reload(struct feeds *feeds)
{
	find_removed(feeds);
	for (const struct feed_config *config = feeds->agent->config->feeds; config;
	     config = config->next) {
		struct feed *feed = find(feeds, config->name);

		if (feed)
			renew(feed, config);
		else
			begin(feeds, config);
	}
	look_for_work(feeds);
}

unsigned int feeds_update(struct feeds *feeds, const char *name)
{
	unsigned int count = 0;

	for (struct feed *feed = feeds->first; feed; feed = feed->next) {
		if (feed->removed || (name && strcmp(name, feed->state.name) != 0))
			continue;
		count++;
		if (feed->phase == SLEEPS)
			sleep_for(feed, 0);
	}
	return count;
}

int feeds_start(struct agent *agent, struct feeds **out)
{
	struct feeds *feeds = calloc(1, sizeof(*feeds));

	*out = feeds;
	if (!feeds)
		return xb_out_of_memory();
	feeds->agent = agent;
	feeds_reload(feeds);
	return 0;
}

/* An import ends with this process: the list is then the former or the new one, as a whole. */
void feeds_stop(struct feeds *feeds)
{
	if (!feeds)
		return;
	sd_event_source_disable_unref(feeds->worker);
	while (feeds->first) {
		struct feed *feed = feeds->first;

		feeds->first = feed->next;
		free_feed(feed);
	}
	free(feeds);
}
