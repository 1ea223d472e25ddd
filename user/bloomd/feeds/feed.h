/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One feed: it sleeps until its time or until its file changes, is fetched, and waits for its turn
 * to be imported. */
#ifndef XB_BLOOMD_FEED_H
#define XB_BLOOMD_FEED_H

#include <limits.h>

#include "bloomd/base/agent.h"
#include "bloomd/base/pathevents.h"
#include "bloomd/feeds/feedconfig.h"
#include "bloomd/feeds/fetcher.h"

#define FEED_SECOND 1000000ULL /* us */

enum feed_phase {
	FEED_SLEEPS,	/* until the timer; then it is fetched, or leaves its lists */
	FEED_FETCHING,	/* `fetcher` runs */
	FEED_WAITS,	/* for its turn, with `fetched`; or to leave lists */
	FEED_IMPORTING, /* by the worker */
};

struct feed {
	struct feed *next;
	struct feeds *all;
	struct xb_feed_state state;
	char terms[sizeof(((struct xb_feed_state *)0)->terms)]; /* as configured */
	enum feed_phase phase;
	sd_event_source *timer;
	struct fetcher *fetcher;
	struct fetched fetched;
	bool conditional;
	bool removed;	     /* from the configuration */
	bool leaving;	     /* it waits to leave lists, or the worker does that */
	bool leaves_all;     /* as the worker began: the last of its lists, too */
	bool hurried;	     /* to be fetched again at once */
	char file[PATH_MAX]; /* that is watched; empty: none is */
	struct pathevents watch;
};

/* All of them. */
struct feeds {
	struct agent *agent;
	struct feed *first;
	unsigned int fetching;
	struct feed *imported;	  /* by the worker; NULL: there is none */
	pid_t child;		  /* the worker */
	struct feed_work *worked; /* as the worker has left it; shared with it */
	sd_event_source *worker;
	void (*look_for_work)(struct feeds *feeds); /* one waits for its turn */
};

/* A feed of this state behind the others, which does nothing yet. NULL with a message. */
struct feed *feed_add(struct feeds *feeds, const struct xb_feed_state *state);

/* With all that it does. The caller has taken it out of the row. */
void feed_free(struct feed *feed);

/* Its section now; NULL: there is none any more. */
const struct feed_config *feed_configured(const struct feed *feed);

/* Waits for its turn to leave the lists that it filled before, or all if it is removed. */
void feed_wait_to_leave(struct feed *feed);

/* Is fetched after so many us. */
void feed_sleep(struct feed *feed, uint64_t delay);

/* us until its next fetch, as the state says. */
uint64_t feed_delay(const struct feed *feed, const struct feed_config *config);

/* Watches the file of the feed, if the URL is one. One whose path is too long cannot be read
 * either. */
void feed_watch(struct feed *feed, const char *url);
void feed_unwatch(struct feed *feed);

/* Ends the fetch, or forgets what it brought. */
void feed_drop_answer(struct feed *feed);

#endif
