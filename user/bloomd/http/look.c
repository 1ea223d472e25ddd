/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/look.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/tallies.h"

#define TRIES 3
#define PAUSE 1000 /* us */

/* A process that opens the store is in the way for a moment. */
static void read_figures(struct look *look)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		if (i)
			usleep(PAUSE);
		xb_figures_free(&look->figures);
		look->error = xb_figures_read(look->paths, &look->figures);
		if (look->error != -EBUSY)
			break;
	}
	if (look->error)
		snprintf(look->why, sizeof(look->why), "%s", xb_error_message());
}

static bool is_amiss(const struct look *look)
{
	return look->error || look->figures.health.problems.count;
}

/* Looks once more, between two moments. */
static void look_for_movement(struct look *look, uint64_t now)
{
	struct xb_moment before, after;
	char holder[256];
	bool known = !xb_moment_take(look->paths, &before), busy;

	if (known)
		read_figures(look);
	if (!is_amiss(look)) {
		look->since = 0;
		return;
	}
	busy = xb_moment_is_busy(look->paths, holder, sizeof(holder));
	if (!busy && known && !xb_moment_take(look->paths, &after) &&
	    xb_moment_is_same(&before, &after)) {
		look->since = 0;
		return;
	}
	/* Another change than last time has its own time. */
	if (known && (!look->since || !xb_moment_is_same(&before, &look->moment))) {
		look->since = now;
		look->moment = before;
	}
	look->in_making = look->since && now < look->since + LOOK_CHANGES;
}

void look_take(struct look *look)
{
	uint64_t now = xb_clock();

	if (look->taken && now < look->taken + LOOK_AGAIN)
		return;
	xb_tallies_look(look->paths);
	look->in_making = false;
	read_figures(look);
	if (is_amiss(look))
		look_for_movement(look, now);
	else
		look->since = 0;
	xb_problems_free(&look->feeds);
	xb_health_feeds(look->paths, &look->feeds);
	look->taken = xb_clock();
}

void look_free(struct look *look)
{
	xb_figures_free(&look->figures);
	xb_problems_free(&look->feeds);
}

bool look_is_well(const struct look *look)
{
	return !look->error && (look->in_making || !look->figures.health.problems.count) &&
	       !look->feeds.count;
}

static void tell_each(const struct xb_problems *problems,
		      void (*take)(const char *text, void *data), void *data)
{
	for (size_t i = 0; i < problems->count; i++)
		take(problems->item[i].text, data);
}

void look_tell(const struct look *look, void (*take)(const char *text, void *data), void *data)
{
	if (look->error)
		take(look->why, data);
	else if (!look->in_making)
		tell_each(&look->figures.health.problems, take, data);
	tell_each(&look->feeds, take, data);
}
