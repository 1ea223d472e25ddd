/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Through which places of the fleet's log this host has gone, by the chains that it knows. */
#ifndef XB_BLOOMD_PASSED_H
#define XB_BLOOMD_PASSED_H

#include "bloomd/fleet/manifest.h"

/* Whether this host has had the state of the snapshot: 1; 0: it has not, or the tail does not reach
 * so far back; negative: error. */
int passed_place(struct xb_txn *txn, const struct xb_fleet *fleet, const struct manifest *manifest,
		 const struct mac_key *key);

#endif
