/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of the requests to CrowdSec's server: in the file that `bloomctl feeds` shows, in the
 * log and in the counters. */
#ifndef XB_BLOOMD_CSSTATE_H
#define XB_BLOOMD_CSSTATE_H

#include "bloomd/crowdsec/cswork.h"

struct csstate {
	const struct xb_paths *paths;
	struct xb_feed_state now;
	struct xb_feed_state shown; /* as it was when the last request ended */
	int64_t saved;		    /* when the file was written */
};

/* Goes on from the former state (NULL: reads what is known from before), and notes the
 * configuration, so that `bloomctl feeds` shows it before the first answer, and its removal does as
 * it says now. paths: stay where they are. */
void csstate_open(struct csstate *state, const struct xb_paths *paths,
		  const struct crowdsec_config *config, const struct xb_feed_state *former);

/* A request has failed; outcome: XB_FEED_... or fetcher_outcome(). */
void csstate_failed(struct csstate *state, const char *outcome, const char *message);

/* An answer is in force, as *outcome says. What a guard has kept back is told until a whole answer
 * passes it. */
void csstate_answered(struct csstate *state, const struct cswork_outcome *outcome, bool whole);

/* After one of these two: delay (ms) until the next request. */
void csstate_save(struct csstate *state, uint64_t delay);

#endif
