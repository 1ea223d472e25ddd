/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways out while the machine cannot build the filter that the store wants. */
#ifndef XB_ENGINE_RELIEF_H
#define XB_ENGINE_RELIEF_H

#include "filter/generation.h"
#include "store/store.h"

/*
 * Whether the change in this write transaction asks for no more than `before`, the meta record with
 * which it began: nothing more is listed, and no larger or stricter filter is wanted. Such a change
 * is committed even if no filter can be built for it: detach, flush, del, allow add, policy
 * monitor, a smaller capacity. What leaves the allowlist does not count: expiries and surveys take
 * from it within any change, and must not block a way out.
 */
bool xb_relief_is(const struct xb_meta *before, const struct xb_txn *txn);

/*
 * Brings into force what needs no counters, so that any generation can take it: the policy, unless
 * it is allow-only and the generation has no code for it, and additions to the allowlist.
 */
int xb_relief_apply(struct xb_generation *generation, struct xb_txn *txn);

#endif
