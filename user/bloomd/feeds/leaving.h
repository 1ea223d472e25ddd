/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of lists that a section filled before, in a process that writes. */
#ifndef XB_BLOOMD_LEAVING_H
#define XB_BLOOMD_LEAVING_H

#include "bloomd/base/config.h"
#include "engine/feedstate.h"

/*
 * Deals with the lists of state->left: empties each, if state->flush says so, unless some section
 * of the configuration fills it or it is the fleet's. Enters in `settled`, "" before, those that
 * need nothing more. Returns 0, or the first error with its message.
 */
int leave_lists(const struct xb_paths *paths, const struct config *config,
		const struct xb_feed_state *state, char settled[XB_FEED_LEFT]);

/* The same for one list. *emptied: whether it was. */
int leave_list(const struct xb_paths *paths, const struct config *config, const char *list,
	       bool flush, bool *emptied);

#endif
