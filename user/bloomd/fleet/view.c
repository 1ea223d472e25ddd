/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/view.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/lists.h"

static int look(struct xb_txn *txn, struct fleet_view *view)
{
	const struct xb_share *shares;
	uint64_t first, last;
	size_t count;
	int found = xb_fleet_get(txn, &view->fleet);

	view->joined = found > 0;
	if (found <= 0)
		return found;
	shares = xb_shares(txn, &count);
	for (size_t i = 0; i < count && i < XB_SHARES_MAX; i++) {
		const struct xb_list *list = xb_list_find(txn, shares[i].list);

		view->share[i] = shares[i];
		view->entries[i] = list ? list->members : 0;
		view->shares++;
	}
	found = xb_fleet_former_last(txn, &view->former);
	return found ? found : xb_outbox_span(txn, &view->waiting, &first, &last);
}

int fleet_view_look(const struct xb_paths *paths, struct fleet_view *view)
{
	struct fleet_view seen = {0};
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(paths->state, &store, &txn);

	if (error == -ENOENT)
		error = 0;
	else if (!error)
		error = look(txn, &seen);
	xb_store_end_reading(store, txn);
	if (!error)
		*view = seen;
	return error;
}

bool fleet_view_has_all(const struct fleet_view *view)
{
	const uint32_t both = XB_SHARE_PUBLISH | XB_SHARE_FOLLOW;

	for (size_t i = 0; i < view->shares; i++)
		if ((view->share[i].flags & both) != both)
			return false;
	return view->shares;
}

const char *fleet_view_new_list(const struct fleet_view *view)
{
	for (size_t i = 0; i < view->shares; i++)
		if (view->share[i].flags & XB_SHARE_FOLLOW &&
		    !(view->share[i].flags & XB_SHARE_JOINED))
			return view->share[i].list;
	return NULL;
}

bool fleet_view_shares(const struct fleet_view *view, const char *list)
{
	for (size_t i = 0; i < view->shares; i++)
		if (!strcmp(view->share[i].list, list))
			return true;
	return false;
}
