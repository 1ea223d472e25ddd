/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/listverdict.h"

#include "store/listclass.h"
#include "store/walk.h"

int xb_domain_verdict_set(struct xb_txn *txn, struct xb_list *list, uint32_t verdict)
{
	bool stricter = verdict < list->verdict;
	bool classifies = verdict == XB_DOMAIN_COUNT || list->verdict == XB_DOMAIN_COUNT;
	int found;

	if (list->verdict == verdict)
		return 0;
	list->verdict = verdict;
	txn->edits++;
	if (classifies) {
		txn->change.tightens |= stricter;
		return xb_list_classify(txn, list);
	}
	found = xb_walk_finds_names(txn, list);
	/* The verdict stands beside each name, so all are written anew. */
	if (found > 0) {
		xb_changes_set_bulk(&txn->change);
		txn->change.tightens |= stricter;
	}
	return found < 0 ? found : 0;
}
