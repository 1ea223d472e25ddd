/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store has of the fleet, as it was when somebody looked last. */
#ifndef XB_BLOOMD_FLEETVIEW_H
#define XB_BLOOMD_FLEETVIEW_H

#include "base/paths.h"
#include "store/fleet.h"
#include "store/outbox.h"

struct fleet_view {
	bool joined; /* there is a record */
	struct xb_fleet fleet;
	uint64_t waiting; /* changes in the outbox */
	uint64_t former;  /* position of the last former entry of the log; 0: there is none */
	struct xb_share share[XB_SHARES_MAX];
	uint64_t entries[XB_SHARES_MAX]; /* of each of these lists */
	size_t shares;
};

/* Returns 0 or an error with its message: then the view is as it was. */
int fleet_view_look(const struct xb_paths *paths, struct fleet_view *view);

/* Whether the host publishes and follows all lists that it shares. */
bool fleet_view_has_all(const struct fleet_view *view);

/* A followed list of which the state is not the fleet's yet; NULL: there is none. */
const char *fleet_view_new_list(const struct fleet_view *view);

bool fleet_view_shares(const struct fleet_view *view, const char *list);

#endif
