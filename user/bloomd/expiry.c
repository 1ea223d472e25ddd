/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timer at the first time in the index of the store; inotify says when others change that. */
#include "bloomd/expiry.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/base/storewatch.h"
#include "store/expiry.h"

#define SECOND	    1000000ULL /* us */
#define RETRY_AFTER (5 * SECOND)
#define PAUSE	    5000 /* us: in which others have their turn, while much expires */

struct expiry {
	struct agent *agent;
	sd_event_source *timer, *retry, *watch;
	bool failed; /* it was told */
	bool more;   /* a sweep was brief, and another one follows after a pause */
};

/* 0 for the earliest time at which something expires; -ENOENT: nothing ever does. */
static int next_time(const struct agent *agent, uint32_t *when)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(agent->paths.state, &store, &txn);

	if (error)
		return error;
	error = xb_expiry_next(txn, when);
	xb_store_end_reading(store, txn);
	return error;
}

static void tell_failure(struct expiry *expiry)
{
	if (!expiry->failed)
		log_error("cannot take out what has expired; trying again");
	expiry->failed = true;
}

/* From now on, and not from when the loop last looked at the clock: a sweep takes its time. */
static void retry_in(struct expiry *expiry, uint64_t delay)
{
	sd_event_source_set_time(expiry->retry, agent_clock() + delay);
	sd_event_source_set_enabled(expiry->retry, SD_EVENT_ONESHOT);
}

static void sweep(struct expiry *expiry)
{
	struct agent *agent = expiry->agent;
	int error;

	agent_writes(agent, "expiry");
	error = xb_write(&agent->paths, XB_WRITE_BRIEF, NULL, NULL, &agent->written);

	expiry->more = false;
	if (error && error != XB_UNMET) {
		if (!agent_is_busy(error))
			tell_failure(expiry);
		retry_in(expiry, agent_is_busy(error) ? AGENT_RETRY : RETRY_AFTER);
		return;
	}
	expiry->failed = false;
	agent_wrote(agent);
	expiry->more = agent->written.overdue;
	if (expiry->more)
		retry_in(expiry, PAUSE);
	else
		expiry_look(expiry);
}

void expiry_look(struct expiry *expiry)
{
	uint32_t when;
	int error = next_time(expiry->agent, &when);

	expiry->more = false;
	if (error) {
		sd_event_source_set_enabled(expiry->timer, SD_EVENT_OFF);
		if (error == -ENOENT)
			return;
		tell_failure(expiry);
		retry_in(expiry, RETRY_AFTER);
		return;
	}
	/* What expires at a second does so when that second has begun. */
	sd_event_source_set_time(expiry->timer, when * SECOND);
	sd_event_source_set_enabled(expiry->timer, SD_EVENT_ONESHOT);
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	sweep(context);
	return 0;
}

static int on_change(sd_event_source *source, const struct inotify_event *event, void *context)
{
	struct expiry *expiry = context;

	(void)source;
	/* Also of what bloomd itself has written. */
	if (expiry->more)
		return 0;
	if (storewatch_is_told(event))
		retry_in(expiry, 0);
	return 0;
}

static int on_retry(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	expiry_look(context);
	return 0;
}

int expiry_start(struct agent *agent, struct expiry **out)
{
	struct expiry *expiry = calloc(1, sizeof(*expiry));
	int error;

	*out = expiry;
	if (!expiry)
		return xb_out_of_memory();
	expiry->agent = agent;
	error = sd_event_add_time(agent->loop, &expiry->timer, CLOCK_REALTIME, 0, 1000, on_time,
				  expiry);
	if (error >= 0)
		error = sd_event_add_time(agent->loop, &expiry->retry, CLOCK_MONOTONIC, 0, 1000,
					  on_retry, expiry);
	if (error >= 0)
		error = sd_event_source_set_enabled(expiry->retry, SD_EVENT_OFF);
	if (error >= 0)
		error = sd_event_add_inotify(agent->loop, &expiry->watch, agent->paths.state,
					     STOREWATCH_EVENTS, on_change, expiry);
	if (error < 0)
		return xb_system_error(-error, "cannot watch %s", agent->paths.state);
	expiry_look(expiry);
	return 0;
}

void expiry_stop(struct expiry *expiry)
{
	if (!expiry)
		return;
	sd_event_source_disable_unref(expiry->timer);
	sd_event_source_disable_unref(expiry->retry);
	sd_event_source_disable_unref(expiry->watch);
	free(expiry);
}
