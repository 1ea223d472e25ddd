/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each feed is fetched by a process of its own, and imported by another in its turn. What the
 * second one found is in memory that both share afterwards, and in the state file for others and
 * for the next bloomd. */
#include "bloomd/feeds/feeds.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "bloomd/feeds/feed.h"
#include "bloomd/feeds/feedplan.h"
#include "bloomd/feeds/feedtally.h"
#include "bloomd/feeds/feedwork.h"
#include "bloomd/base/log.h"
#include "bloomd/base/owners.h"

#define PATIENCE 120 /* seconds that an import waits for other writers */

static void unlink_feed(struct feed *feed)
{
	struct feed **at = &feed->all->first;

	while (*at != feed)
		at = &(*at)->next;
	*at = feed->next;
	feed_free(feed);
}

/* --- importing --- */

/* In the process of its own. */
static _Noreturn void work(struct feed *feed)
{
	const struct agent *agent = feed->all->agent;
	struct feed_work work = {.paths = &agent->paths,
				 .feed = feed_configured(feed),
				 .state = feed->state,
				 .fetched = &feed->fetched,
				 .conditional = feed->conditional,
				 .config = agent->config};
	int error;

	xb_patience_set(PATIENCE);
	error = feed->leaving ? feedwork_leave(&work) : feedwork_run(&work);
	*feed->all->worked = work;
	if (error)
		log_error(feed->state.name);
	_exit(error ? 3 : 0);
}

/* Whether lists that it filled before need something, now that it fills the present one. */
static bool must_leave(const struct feed *feed)
{
	const struct xb_feed_state *state = &feed->state;

	return *state->left && state->last_import && !strcmp(state->terms, feed->terms);
}

static void go_on(struct feed *feed, uint64_t delay)
{
	if (must_leave(feed))
		feed_wait_to_leave(feed);
	else
		feed_sleep(feed, delay);
}

static bool save(const struct feed *feed)
{
	int error = xb_feed_state_write(feed->all->agent->paths.state, &feed->state);

	if (error)
		log_error(NULL);
	return !error;
}

/* The worker knows what became of the answer; a reload since may have changed which lists the feed
 * has to do with. */
static void take_result(struct feed *feed)
{
	struct xb_feed_state *state = &feed->state, before = *state;
	bool same;

	*state = feed->all->worked->state;
	same = !strcmp(state->list, before.list) && !strcmp(state->left, before.left) &&
	       state->flush == before.flush && state->period == before.period;
	memcpy(state->list, before.list, sizeof(state->list));
	memcpy(state->left, before.left, sizeof(state->left));
	state->flush = before.flush;
	state->period = before.period;
	if (!same)
		save(feed);
	feed_tally_count(&feed->all->agent->paths, state);
}

static void take_settled(struct feed *feed)
{
	const char *at = feed->all->worked->state.left;
	char list[XB_FEED_LIST];

	while (xb_feed_left_next(&at, list))
		xb_feed_left_take(feed->state.left, list);
}

/* The worker has left the lists of a feed that is in no configuration any more. What could not be
 * emptied is tried again, whether or not there is a file of the feed. */
static void finish_removed(struct feed *feed, bool well)
{
	const struct xb_paths *paths = &feed->all->agent->paths;

	if (well && xb_feed_state_remove(paths->state, feed->state.name)) {
		log_error(NULL);
		well = false;
	}
	if (well) {
		log_info("feed %s is removed, and list %s %s", feed->state.name, feed->state.list,
			 feed->all->worked->emptied ? "emptied" : "stays");
		feed_tally_forget(paths, &feed->state);
		unlink_feed(feed);
		return;
	}
	feed_sleep(feed, (uint64_t)FEED_RETRY * FEED_SECOND);
}

static void finish_leaving(struct feed *feed, bool ended, bool well)
{
	const struct feed_config *config = feed_configured(feed);

	if (ended)
		take_settled(feed);
	if (!config && feed->leaves_all) {
		finish_removed(feed, well);
		return;
	}
	if (!config) {
		feed_wait_to_leave(feed);
		return;
	}
	if (ended)
		save(feed);
	feed_sleep(feed, feed->hurried ? 0 : feed_delay(feed, config));
}

/* ended: the worker came to its end, so that its state counts; well: it could write it, too. */
static void finish(struct feed *feed, bool ended, bool well)
{
	const struct feed_config *config = feed_configured(feed);

	feed_drop_answer(feed);
	if (feed->leaving) {
		finish_leaving(feed, ended, well);
		return;
	}
	if (ended)
		take_result(feed);
	if (!config) {
		feed_wait_to_leave(feed);
		return;
	}
	if (!well)
		feed->state.next_fetch = time(NULL) + FEED_RETRY;
	if (well && xb_feed_is_well(&feed->state))
		go_on(feed, feed->hurried ? 0 : feed_delay(feed, config));
	else
		feed_sleep(feed, feed->hurried ? 0 : feed_delay(feed, config));
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct feeds *feeds = context;
	struct feed *feed = feeds->imported;
	bool ended = info->si_code == CLD_EXITED;

	(void)source;
	feeds->worker = sd_event_source_disable_unref(feeds->worker);
	feeds->imported = NULL;
	if (!ended)
		xb_warning("feed %s: the import ended with signal %d; trying again",
			   feed->state.name, info->si_status);
	finish(feed, ended, ended && !info->si_status);
	feeds->look_for_work(feeds);
	return 0;
}

/* What it does is then done as a whole, or not at all. */
static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void start_work(struct feed *feed)
{
	struct feeds *feeds = feed->all;
	pid_t child;

	feed->leaves_all = feed->removed;
	child = agent_fork(feeds->agent);
	if (!child)
		work(feed);
	if (child < 0 || sd_event_add_child(feeds->agent->loop, &feeds->worker, child, WEXITED,
					    on_worked, feeds) < 0) {
		if (child > 0)
			end_child(child);
		xb_warning("feed %s: no process can be started; trying again", feed->state.name);
		finish(feed, false, false);
		return;
	}
	feed->phase = FEED_IMPORTING;
	feeds->imported = feed;
	feeds->child = child;
}

static void look_for_work(struct feeds *feeds)
{
	struct feed *next;

	for (struct feed *feed = feeds->first; feed && !feeds->imported; feed = next) {
		next = feed->next;
		if (feed->phase == FEED_WAITS)
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

/* So that `bloomctl feeds` shows it before it was fetched, and its removal does as it says now.
 * Before anything gets into a list, it is noted whose that list is. */
static void note(struct feed *feed, const struct feed_config *config)
{
	struct xb_feed_state *state = &feed->state;
	const char *list = feed_config_list(config);

	if (state->next_fetch && state->period == config->every && state->flush == config->flush &&
	    !strcmp(state->list, list))
		return;
	if (!xb_feed_fills(state, list))
		xb_warning("feed %s has filled too many lists: one of them stays as it is",
			   state->name);
	state->period = config->every;
	state->flush = config->flush;
	if (!state->next_fetch)
		state->next_fetch = time(NULL);
	save(feed);
}

/* A configuration comes to many machines at once. */
static uint64_t first_delay(void)
{
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	return random % FEED_SECOND;
}

static void begin(struct feeds *feeds, const struct feed_config *config)
{
	struct xb_feed_state state;
	struct feed *feed;
	bool fresh, changed;

	if (xb_feed_state_read(feeds->agent->paths.state, config->name, &state))
		xb_error_clear();
	fresh = !state.last_attempt;
	feed = feed_add(feeds, &state);
	if (!feed) {
		log_error(config->name);
		return;
	}
	note(feed, config);
	feed_watch(feed, config->url);
	feed_tally_show(&feeds->agent->paths, &feed->state);
	feed_config_terms(config, feed->terms);
	changed = state.last_import && strcmp(feed->terms, state.terms) != 0;
	go_on(feed, changed ? 0 : fresh ? first_delay() : feed_delay(feed, config));
}

/* The configuration of a feed that goes on may be another now. */
static void renew(struct feed *feed, const struct feed_config *config)
{
	char terms[sizeof(feed->terms)];
	bool removed = feed->removed, changed;

	feed->removed = false;
	note(feed, config);
	feed_watch(feed, config->url);
	feed_tally_show(&feed->all->agent->paths, &feed->state);
	feed_config_terms(config, terms);
	changed = strcmp(terms, feed->terms) != 0;
	memcpy(feed->terms, terms, sizeof(terms));
	if (feed->phase == FEED_IMPORTING) {
		feed->hurried = changed;
	} else if (changed || removed || feed->phase == FEED_SLEEPS) {
		/* What came belongs to the former configuration. */
		feed_drop_answer(feed);
		go_on(feed, changed || feed->hurried ? 0 : feed_delay(feed, config));
	}
}

static void remove_feed(struct feed *feed)
{
	feed->removed = true;
	feed_unwatch(feed);
	if (feed->phase == FEED_IMPORTING)
		return;
	feed_drop_answer(feed);
	feed_wait_to_leave(feed);
}

/* The bouncer keeps its state beside those of the feeds; without one in the configuration, it is a
 * feed that was removed. */
static bool is_of_crowdsec(const struct feeds *feeds, const char *name)
{
	return feeds->agent->config->crowdsec && !strcmp(name, CONFIG_CROWDSEC);
}

/* What a feed has listed goes with it by what is in memory: its file may be gone, or never was. */
static void remove_unconfigured(struct feeds *feeds)
{
	struct feed *next;

	for (struct feed *feed = feeds->first; feed; feed = next) {
		next = feed->next;
		if (feed_configured(feed))
			continue;
		remove_feed(feed);
		if (is_of_crowdsec(feeds, feed->state.name) && feed->phase != FEED_IMPORTING)
			unlink_feed(feed);
	}
}

/* Only their files tell of feeds that were removed while bloomd did not run. */
static void find_removed(struct feeds *feeds)
{
	struct xb_feed_state *states;
	size_t count;

	if (xb_feed_states_read(feeds->agent->paths.state, &states, &count))
		log_error(NULL);
	for (size_t i = 0; i < count; i++) {
		struct feed *feed;

		if (feed_config_find(feeds->agent->config, states[i].name) ||
		    is_of_crowdsec(feeds, states[i].name) || find(feeds, states[i].name))
			continue;
		feed = feed_add(feeds, &states[i]);
		if (feed)
			remove_feed(feed);
	}
	free(states);
}

/* Whether the list is another section's by now, or no longer to be left. */
static bool is_taken(const struct feed *feed, const char *list)
{
	const struct owner *owner = owner_of(feed->all->agent->config, list);

	return owner && (feed->leaving || strcmp(owner->name, feed->state.name) != 0);
}

static bool is_in_the_way(const struct feed *feed)
{
	char list[XB_FEED_LIST];
	const char *at = feed->state.left;

	if (is_of_crowdsec(feed->all, feed->state.name))
		return true;
	if ((feed->removed || !feed->leaving) && is_taken(feed, feed->state.list))
		return true;
	while (xb_feed_left_next(&at, list))
		if (is_taken(feed, list))
			return true;
	return false;
}

void feeds_stand_back(struct feeds *feeds)
{
	struct feed *feed = feeds->imported;

	if (!feed || !is_in_the_way(feed))
		return;
	feeds->worker = sd_event_source_disable_unref(feeds->worker);
	end_child(feeds->child);
	feeds->imported = NULL;
	feed_drop_answer(feed);
	feed->hurried = true;
	feed_sleep(feed, 0);
}

void feeds_reload(struct feeds *feeds)
{
	remove_unconfigured(feeds);
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
		if (feed->phase == FEED_SLEEPS)
			feed_sleep(feed, 0);
		else if (feed->leaving)
			feed->hurried = true;
	}
	return count;
}

int feeds_start(struct agent *agent, struct feeds **out)
{
	struct feeds *feeds = calloc(1, sizeof(*feeds));

	*out = feeds;
	if (!feeds)
		return xb_out_of_memory();
	feeds->worked = mmap(NULL, sizeof(*feeds->worked), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (feeds->worked == MAP_FAILED) {
		free(feeds);
		*out = NULL;
		return xb_out_of_memory();
	}
	feeds->agent = agent;
	feeds->look_for_work = look_for_work;
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
		feed_free(feed);
	}
	munmap(feeds->worked, sizeof(*feeds->worked));
	free(feeds);
}
