/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedtally.h"

#include "engine/tallies.h"

/* As docs/agent.md has them. */
static const char *const guards[] = {"html",	    "format",	   "empty",
				     "min-entries", "max-entries", "max-change",
				     "max-share",   "canary",	   "max-age"};

void feed_tally_show(const struct xb_paths *paths, const struct xb_feed_state *feed)
{
	const struct {
		enum xb_tally family;
		int64_t value;
	} gauges[] = {{XB_TALLY_FEED_SUCCESS, feed->last_success},
		      {XB_TALLY_FEED_CONTENT, feed->content_time},
		      {XB_TALLY_FEED_ENTRIES, feed->entries},
		      {XB_TALLY_FEED_PERIOD, feed->period}};

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		xb_tally_set(paths, gauges[i].family, feed->name, (uint64_t)gauges[i].value);
	xb_tally_add(paths, XB_TALLY_FEED_FETCHES, feed->name, XB_FEED_UPDATED, 0);
	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		xb_tally_add(paths, XB_TALLY_FEED_REFUSALS, feed->name, guards[i], 0);
}

void feed_tally_count(const struct xb_paths *paths, const struct xb_feed_state *feed)
{
	feed_tally_show(paths, feed);
	xb_tally_add(paths, XB_TALLY_FEED_FETCHES, feed->name, feed->outcome, 1);
	if (*feed->guard)
		xb_tally_add(paths, XB_TALLY_FEED_REFUSALS, feed->name, feed->guard, 1);
}

void feed_tally_forget(const struct xb_paths *paths, const struct xb_feed_state *feed)
{
	xb_tally_forget(paths, XB_TALLY_FEED_FETCHES, feed->name);
}
