/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change that lessens is told from one that tightens by what the transaction holds, whichever
 * verb made it. */
#include "engine/relief.h"

#include <errno.h>
#include <string.h>

#include "store/walk.h"

/* From allow-only to enforce is a way out, too: who is not listed gets in again. */
static bool is_stricter(uint32_t policy, uint32_t than)
{
	return policy != than && (policy == XB_POLICY_ALLOW_ONLY || than == XB_POLICY_MONITOR);
}

bool xb_relief_is(const struct xb_meta *before, const struct xb_txn *txn)
{
	const struct xb_meta *after = &txn->meta;

	return !txn->change.tightens && !is_stricter(after->policy, before->policy) &&
	       (!after->capacity || after->capacity <= before->capacity) &&
	       !(xb_meta_rate(after) < xb_meta_rate(before)) &&
	       after->unconfirmed == before->unconfirmed &&
	       (after->policy != XB_POLICY_ALLOW_ONLY ||
		after->admits_known == before->admits_known) &&
	       after->answer_limit == before->answer_limit &&
	       !memcmp(&after->ports, &before->ports, sizeof(after->ports));
}

static int apply_policy(const struct xb_generation *generation, uint32_t policy)
{
	if (policy == XB_POLICY_ALLOW_ONLY && !generation->params.allow_only)
		return 0;
	return xb_generation_set_policy(generation, policy);
}

int xb_relief_apply(struct xb_generation *generation, struct xb_txn *txn)
{
	bool names = generation->params.names.blocks;
	struct xb_walk walk;
	int more = 0, error = apply_policy(generation, txn->meta.policy);

	if (!error)
		error = xb_mapping_map_all(&generation->allow.gate);
	if (!error && names)
		error = xb_mapping_map_all(&generation->depths);
	if (!error)
		error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);
	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0)
		if (names || !xb_entry_is_name(&walk.entry))
			error = xb_allowmaps_add(&generation->allow, &walk.entry);
	xb_walk_end(&walk);
	/* Those left out are told of with all else that takes a new filter. */
	return error == -EXFULL ? 0 : error ? error : more;
}
