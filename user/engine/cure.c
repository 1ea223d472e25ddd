/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/cure.h"

#include <stdio.h>

#include "base/error.h"
#include "engine/tallies.h"

/* *mode: to try next. */
static bool choose(const struct xb_interface *item, enum xb_mode *mode)
{
	*mode = item->now.mode;
	if (!item->view.cures && !item->fresh)
		return true;
	if (item->now.mode != XB_MODE_NATIVE || item->mode != XB_MODE_AUTO)
		return false;
	*mode = XB_MODE_SKB;
	return true;
}

int xb_cure(const struct xb_paths *paths, const struct xb_anchor *anchor, struct xb_interface *item,
	    bool *changed)
{
	enum xb_mode mode;
	uint64_t open;
	int error;

	if (!choose(item, &mode))
		return 0;
	error = xb_change_mode(anchor, &item->now, mode, &open);
	if (!error)
		error = xb_calls_begin(anchor, item->enrolled.row, item->now.ifindex,
				       item->view.cures + 1);
	if (error)
		return error;
	*changed = item->fresh = true;
	xb_tally_add(paths, XB_TALLY_CURES, xb_mode_name(mode), NULL, 1);
	xb_warning("%s; it is attached anew%s, and was without it for %.1f ms meanwhile", item->why,
		   mode == item->now.mode ? "" : " in skb mode, which is slower",
		   (double)open / 1000);
	return 0;
}
