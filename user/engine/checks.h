/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks compare what the kernel has with what the store wants, and add each difference to the
 * problems. They use only their arguments, and ask which driver an interface has. */
#ifndef XB_ENGINE_CHECKS_H
#define XB_ENGINE_CHECKS_H

#include "engine/feedstate.h"
#include "engine/known.h"
#include "engine/problem.h"
#include "engine/storeview.h"
#include "filter/generation.h"

/* Checks all interfaces, but not xb_check_calls(). tried: a trial goes on, so those that it alone
 * wants should be filtered. The problems point to items of *all. */
void xb_check_interfaces(const struct xb_interfaces *all, bool tried, struct xb_problems *problems);

/* Checks whether drivers call the filter, where that is in doubt. */
void xb_check_calls(const struct xb_interfaces *all, struct xb_problems *problems);

/* active: the generation in force. */
void xb_check_generation(const struct xb_generation *active, const struct xb_storeview *store,
			 struct xb_problems *problems);

/* in_force: the policy word in the map of that generation, not that of a trial. */
void xb_check_policy(uint32_t in_force, const struct xb_storeview *store,
		     struct xb_problems *problems);

/* Whether sources are learned, if that is wanted. */
void xb_check_known(const struct xb_known_view *known, const struct xb_storeview *store,
		    struct xb_problems *problems);

/* Whether strangers are taken for known as rarely as promised. */
void xb_check_known_rate(const struct xb_known_view *known, const struct xb_storeview *store,
			 struct xb_problems *problems);

/* left: seconds until the trial ends; 0: there is none, or it has ended. */
void xb_check_trial(uint64_t left, const struct xb_storeview *store, struct xb_problems *problems);

/* Whether what has expired is taken out. now: seconds since 1970. */
void xb_check_expiry(uint64_t now, const struct xb_storeview *store, struct xb_problems *problems);

/* Whether the feed has brought or confirmed a list within three periods and a day. now: as above.
 */
void xb_check_feed(const struct xb_feed_state *feed, int64_t now, struct xb_problems *problems);

#endif
