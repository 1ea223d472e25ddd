/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csstate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/feeds/feedtally.h"

#define SAVE_AFTER 60 /* seconds: a state in which only times have changed */

void csstate_open(struct csstate *state, const struct xb_paths *paths,
		  const struct crowdsec_config *config)
{
	struct xb_feed_state *now = &state->now;

	state->paths = paths;
	if (xb_feed_state_read(paths->state, CONFIG_CROWDSEC, now))
		xb_error_clear();
	now->failures = 0;
	snprintf(now->list, sizeof(now->list), "%s", crowdsec_config_list(config));
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

void csstate_answered(struct csstate *state, const struct csanswer *answer, size_t entries)
{
	struct xb_feed_state *now = &state->now;
	const char *outcome = answer->changes.count ? XB_FEED_UPDATED : XB_FEED_UNCHANGED;
	bool refused = *answer->guard;

	now->failures = 0;
	now->last_attempt = time(NULL);
	now->entries = (int64_t)entries;
	if (refused)
		set_outcome(now, XB_FEED_REFUSED, answer->guard, answer->why);
	else if (answer->whole || strcmp(now->outcome, XB_FEED_REFUSED) != 0)
		set_outcome(now, outcome, "", answer->why);
	if (xb_feed_is_well(now)) {
		now->last_success = now->last_attempt;
		if (answer->changes.count)
			now->last_import = now->content_time = now->last_attempt;
	}
	count(state, refused ? XB_FEED_REFUSED : outcome, answer->guard);
	tell(&state->shown, now);
}

/* The file is made durable; whoever polls every ten seconds must not write it each time. */
void csstate_save(struct csstate *state, uint64_t delay)
{
	struct xb_feed_state *now = &state->now, *shown = &state->shown;
	bool changed = strcmp(shown->outcome, now->outcome) != 0 ||
		       strcmp(shown->guard, now->guard) != 0 ||
		       strcmp(shown->message, now->message) != 0 || shown->status != now->status ||
		       shown->entries != now->entries;

	now->next_fetch = now->last_attempt + (int64_t)(delay / 1000);
	*shown = *now;
	if (!changed && now->last_attempt - state->saved < SAVE_AFTER &&
	    now->last_attempt >= state->saved)
		return;
	state->saved = now->last_attempt;
	if (xb_feed_state_write(state->paths->state, now))
		log_error("crowdsec");
}
