/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/admits.h"

#include "store/lists.h"
#include "store/walk.h"

/* Whether a list that counts, or one that does not, has members. */
static bool has_members(const struct xb_txn *txn, bool counts)
{
	for (size_t i = 0; i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];

		if (list->members && xb_list_has_verdict(list) &&
		    (list->verdict == XB_DOMAIN_COUNT) == counts)
			return true;
	}
	return false;
}

bool xb_listed_admit_none(const struct xb_txn *txn)
{
	const struct xb_totals *totals = &txn->meta.totals;

	return !(totals->host4 + totals->prefix4 + totals->net6) || !has_members(txn, false);
}

/* Lists may have domains and what is allowed, too, so their sizes do not say it. */
static int find_one(struct xb_txn *txn)
{
	struct xb_walk walk;
	bool found = false;
	int more = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);

	if (more)
		return more;
	while (!found && (more = xb_walk_next(&walk)) > 0 && !xb_entry_is_name(&walk.entry))
		found = xb_members_verdict(txn, walk.members) != XB_DOMAIN_COUNT;
	xb_walk_end(&walk);
	return more < 0 ? more : found;
}

int xb_listed_admit(struct xb_txn *txn)
{
	if (xb_listed_admit_none(txn))
		return 0;
	return has_members(txn, true) ? find_one(txn) : 1;
}
