/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether an answer to a query goes back into the VLAN from which the query came. Where a driver
 * takes tags off before XDP, it does not: there no query is answered. */
#ifndef XB_ENGINE_VLANS_H
#define XB_ENGINE_VLANS_H

#include "engine/context.h"
#include "engine/problem.h"
#include "engine/storeview.h"

/* Whether any list has a verdict that answers queries (refused, nxdomain, truncate), or any limit
 * truncates. Without one nothing has to be known of VLANs, and nobody looks. limits: NULL, if there
 * are none. */
bool xb_queries_answered(const struct xb_list *lists, size_t count,
			 const struct xb_limits_wanted *limits);

/* The same of what the transaction sees. An error with its message. */
int xb_queries_answered_by(struct xb_txn *txn, bool *answered);

/* Sets for each filtered interface whether queries are answered there, and gives a notice for each
 * where they no longer are. The caller holds the writer lock, and the anchor is open. */
int xb_vlans_settle(const struct xb_anchor *anchor);

/* Adds a problem for each interface in the table of which xb_vlans_settle() would change something.
 */
int xb_vlans_check(const struct xb_anchor *anchor, const struct xb_interfaces *all,
		   struct xb_problems *problems);

#endif
