/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the metrics say of feeds. */
#ifndef XB_BLOOMD_FEEDTALLY_H
#define XB_BLOOMD_FEEDTALLY_H

#include "base/paths.h"
#include "engine/feedstate.h"

/* Sets its gauges, and makes its counters visible. */
void feed_tally_show(const struct xb_paths *paths, const struct xb_feed_state *feed);

/* After an attempt: counts its outcome, too. */
void feed_tally_count(const struct xb_paths *paths, const struct xb_feed_state *feed);

void feed_tally_forget(const struct xb_paths *paths, const struct xb_feed_state *feed);

#endif
