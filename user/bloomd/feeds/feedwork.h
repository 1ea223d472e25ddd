/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process of its own does with the answer of a server, so that the loop goes on meanwhile:
 * guards, import, and the state of the feed. */
#ifndef XB_BLOOMD_FEEDWORK_H
#define XB_BLOOMD_FEEDWORK_H

#include "bloomd/feeds/feedconfig.h"
#include "bloomd/feeds/fetcher.h"

/* One answer for one feed. */
struct feed_work {
	const struct xb_paths *paths;
	const struct feed_config *feed;
	struct xb_feed_state state; /* as it was before; the call leaves what it is then */
	bool emptied;		    /* set by feedwork_leave(): the last of its lists */
	const struct fetched *fetched;
	bool conditional; /* the list in force is what the state says */
	const struct config *config;
};

/* Carries it out. The list stays as it is unless the answer is good in every respect. Returns 0 if
 * the state was written. */
int feedwork_run(struct feed_work *work);

/* Leaves the lists that the feed filled before; of one that is not configured any more (work->feed
 * NULL) also the last. work->state.left: afterwards those that need nothing more. Returns 0, or the
 * first error with its message. */
int feedwork_leave(struct feed_work *work);

#endif
