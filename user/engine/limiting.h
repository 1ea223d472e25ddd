/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds and deletes limits, and lets their meters begin anew. */
#ifndef XB_ENGINE_LIMITING_H
#define XB_ENGINE_LIMITING_H

#include "base/paths.h"
#include "engine/wish.h"

/* Carries out a wish to add a limit or to delete one, for which the filter is built anew. Returns
 * 0, 1 with a message if the one to delete is not there, or an error with its message, also if
 * there is one of the name to add. */
int xb_limit_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		  struct xb_written *written);

/* An error with its message if the limit needs public suffixes, and this machine has none. */
int xb_limit_need_suffixes(const struct xb_limit *limit);

/*
 * Lets all meters of the filter in force begin anew, in place, and those of one that is on trial:
 * each source may send its burst again. *limits: how many limits these are. Returns 0, 1 with a
 * message if no filter is in force, or it has no limits, or an error with its message.
 */
int xb_limits_reset(const struct xb_paths *paths, uint32_t *limits);

#define XB_LIMIT_WHY 256

/* Whether sources over the limit, which has a list, come there. If not, why says what is missing.
 * policy: enum xb_policy. learns: known sources are wanted. */
bool xb_limit_is_listed(const struct xb_paths *paths, const struct xb_limit *limit, uint32_t policy,
			bool learns, char why[XB_LIMIT_WHY]);

#endif
