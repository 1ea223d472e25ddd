/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csstate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/feeds/feedtally.h"

#define SAVE_AFTER 60 /* seconds: a state in which only times have changed */

static bool has_left(const struct xb_feed_state *feed, const char *list)
{
	const char *at = feed->left;
	char one[XB_FEED_LIST];

	if (!strcmp(feed->list, list))
		return true;
	while (xb_feed_left_next(&at, one))
		if (!strcmp(one, list))
			return true;
	return false;
}

/* Whether a feed filled the list so far that is to empty it when it goes. */
static bool is_of_feed(const char *state, const char *list)
{
	struct xb_feed_state *feeds;
	bool found = false;
	size_t count;

	if (xb_feed_states_read(state, &feeds, &count))
		log_error("crowdsec");
	for (size_t i = 0; i < count; i++)
		found |= feeds[i].flush && strcmp(feeds[i].name, CONFIG_CROWDSEC) != 0 &&
			 has_left(&feeds[i], list);
	free(feeds);
	return found;
}

void csstate_open(struct csstate *state, const struct xb_paths *paths,
		  const struct crowdsec_config *config, const struct xb_feed_state *former)
{
	struct xb_feed_state *now = &state->now;
	const char *list = crowdsec_config_list(config);

	state->paths = paths;
	if (former)
		*now = *former;
	else if (xb_feed_state_read(paths->state, CONFIG_CROWDSEC, now))
		xb_error_clear();
	now->failures = 0;
	if (strcmp(now->list, list) != 0)
		now->replaces = 0;
	now->replaces |= is_of_feed(paths->state, list);
	if (!xb_feed_fills(now, list))
		xb_warning("crowdsec has filled too many lists: one of them stays as it is");
	now->period = config->every;
	now->flush = config->flush;
	now->next_fetch = time(NULL);
	state->shown = *now;
	if (xb_feed_state_write(paths->state, now))
		log_error("crowdsec");
	feed_tally_show(paths, now);
}

/* Once for a row of failures of one kind. */
static void tell(const struct xb_feed_state *before, const struct xb_feed_state *state)
{
	bool well = xb_feed_is_well(state);

	if (well && *before->outcome && !xb_feed_is_well(before))
		log_info("crowdsec works again");
	if (!well && (strcmp(before->outcome, state->outcome) != 0 ||
		      strcmp(before->guard, state->guard) != 0))
		xb_warning("crowdsec: %s%s%s: %s; what is listed stays until its time",
			   state->outcome, *state->guard ? " by " : "", state->guard,
			   state->message);
}

static void count(const struct csstate *state, const char *outcome, const char *guard)
{
	struct xb_feed_state counted = state->now;

	snprintf(counted.outcome, sizeof(counted.outcome), "%s", outcome);
	snprintf(counted.guard, sizeof(counted.guard), "%s", guard);
	feed_tally_count(state->paths, &counted);
}

static void set_outcome(struct xb_feed_state *state, const char *outcome, const char *guard,
			const char *message)
{
	snprintf(state->outcome, sizeof(state->outcome), "%s", outcome);
	snprintf(state->guard, sizeof(state->guard), "%s", guard);
	snprintf(state->message, sizeof(state->message), "%.*s", XB_FEED_TEXT - 1, message);
}

void csstate_failed(struct csstate *state, const char *outcome, const char *message)
{
	struct xb_feed_state *now = &state->now;

	set_outcome(now, outcome, "", message);
	now->failures++;
	now->last_attempt = time(NULL);
	count(state, outcome, "");
	tell(&state->shown, now);
}

static void take_settled(struct xb_feed_state *now, const char *settled)
{
	char list[XB_FEED_LIST];

	while (xb_feed_left_next(&settled, list))
		xb_feed_left_take(now->left, list);
}

void csstate_answered(struct csstate *state, const struct cswork_outcome *outcome, bool whole)
{
	struct xb_feed_state *now = &state->now;
	const char *name = outcome->changed ? XB_FEED_UPDATED : XB_FEED_UNCHANGED;
	bool refused = *outcome->guard;

	now->failures = 0;
	now->last_attempt = time(NULL);
	now->entries = (int64_t)outcome->entries;
	take_settled(now, outcome->settled);
	if (whole && !refused)
		now->replaces = 0;
	if (refused)
		set_outcome(now, XB_FEED_REFUSED, outcome->guard, outcome->why);
	else if (whole || strcmp(now->outcome, XB_FEED_REFUSED) != 0)
		set_outcome(now, name, "", outcome->why);
	if (xb_feed_is_well(now)) {
		now->last_success = now->last_attempt;
		if (outcome->changed)
			now->last_import = now->content_time = now->last_attempt;
	}
	count(state, refused ? XB_FEED_REFUSED : name, outcome->guard);
	tell(&state->shown, now);
}

/* The file is made durable; whoever polls every ten seconds must not write it each time. */
void csstate_save(struct csstate *state, uint64_t delay)
{
	struct xb_feed_state *now = &state->now, *shown = &state->shown;
	bool changed = strcmp(shown->outcome, now->outcome) != 0 ||
		       strcmp(shown->guard, now->guard) != 0 ||
		       strcmp(shown->message, now->message) != 0 || shown->status != now->status ||
		       shown->entries != now->entries || strcmp(shown->left, now->left) != 0 ||
		       shown->replaces != now->replaces;

	now->next_fetch = now->last_attempt + (int64_t)(delay / 1000);
	*shown = *now;
	if (!changed && now->last_attempt - state->saved < SAVE_AFTER &&
	    now->last_attempt >= state->saved)
		return;
	state->saved = now->last_attempt;
	if (xb_feed_state_write(state->paths->state, now))
		log_error("crowdsec");
}
