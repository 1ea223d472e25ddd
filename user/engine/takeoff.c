/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/takeoff.h"

#include <errno.h>
#include <stdbool.h>

#include "attach/refusal.h"
#include "attach/upgrade.h"
#include "base/error.h"
#include "base/lock.h"
#include "engine/context.h"
#include "engine/reconcile.h"

static bool is_named(const struct xb_interfaces *all, const struct xb_interface *item,
		     char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (xb_interfaces_find(all, names[i]) == item)
			return true;
	return !names;
}

static int take_off(struct xb_anchor *anchor, char *const *names, int count, int *taken)
{
	struct xb_interfaces all;
	int error = xb_anchor_at_home(anchor), first = 0;

	if (!error)
		error = xb_anchored_refuse_newer(anchor);
	if (!error)
		error = xb_interfaces_look(anchor, NULL, 0, NULL, &all);
	if (error)
		return error;
	/* One that cannot be taken off does not keep the others. */
	for (size_t i = 0; i < all.count; i++) {
		if (all.item[i].difference == XB_IFACE_STALE ||
		    !is_named(&all, &all.item[i], names, count))
			continue;
		error = xb_reconcile_let_go(anchor, &all, &all.item[i]);
		if (error == XB_STAYS_ON && all.item[i].now.ifindex)
			error = xb_reconcile_leave(anchor, &all.item[i]);
		*taken += !error;
		first = first ? first : error;
	}
	xb_interfaces_free(&all);
	return first;
}

/* Of an anchor of an older layout no interface can be told from another. */
static int take_off_older(const struct xb_paths *paths, int *taken)
{
	int error = xb_anchor_set_aside(paths->pins);

	if (!error)
		error = xb_upgrade_finish(paths->pins, NULL);
	*taken = !error;
	return error;
}

int xb_take_off(const struct xb_paths *paths, char *const *names, int count, int *taken)
{
	struct xb_anchor anchor;
	/* The holder may hang: an emergency detach proceeds without the lock. */
	int lock = xb_lock(paths->state, XB_WRITER_LOCK),
	    error = xb_anchor_open(paths->pins, &anchor);

	*taken = 0;
	if (!error) {
		error = take_off(&anchor, names, count, taken);
		xb_anchor_close(&anchor);
	} else if (error == -ESTALE && !names) {
		error = take_off_older(paths, taken);
	}
	xb_unlock(lock);
	return error == -ENOENT ? 0 : error;
}
