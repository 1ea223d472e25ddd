/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Killed between two steps, the interface is filtered as before or passes everything, and all
 * others stay filtered: the guard is complete before it stands in the slot. */
#include "attach/left.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "attach/guardload.h"
#include "attach/swap.h"
#include "base/error.h"
#include "base/faultpoint.h"

/* *program: the filter in force; -1: there is none. */
static int open_active(const struct xb_anchor *anchor, int *program)
{
	uint32_t active;
	int error = xb_anchor_active(anchor, &active);

	*program = -1;
	if (error)
		return error;
	if (active)
		*program = bpf_prog_get_fd_by_id(active);
	if (active && *program < 0)
		return xb_system_error(errno, "cannot open the filter in force");
	return 0;
}

/* Its former side goes on as the filter in force. */
static int end_trial_of_all(struct xb_anchor *anchor, int active)
{
	int error = active >= 0 ? xb_anchor_set_slot(anchor, active) : 0;

	if (error)
		return error;
	xb_anchor_quiesce();
	xb_guard_close(&anchor->guard);
	return 0;
}

static int guard_it(struct xb_anchor *anchor, uint32_t ifindex, int active)
{
	const struct xb_trial_cell state = {0};
	struct xb_guard guard;
	int error = xb_guard_create(anchor, &state, active, -1, NULL, 0, &guard);

	xb_fault("left-pinned");
	if (error)
		return error;
	error = xb_guard_leave(&guard, ifindex);
	if (!error)
		error = xb_anchor_set_slot(anchor, guard.program);
	xb_fault("left-guarded");
	if (error) {
		xb_guard_close(&guard);
		xb_guard_remove(anchor->pins);
		return error;
	}
	anchor->guard = guard;
	return 0;
}

int xb_leave(struct xb_anchor *anchor, uint32_t ifindex, bool *news)
{
	int error, active;

	*news = !xb_guard_has_left(&anchor->guard, ifindex);
	if (!*news)
		return 0;
	if (anchor->guard.program >= 0 && !anchor->guard.state.everywhere)
		return xb_guard_leave(&anchor->guard, ifindex);
	error = open_active(anchor, &active);
	if (!error && anchor->guard.program >= 0)
		error = end_trial_of_all(anchor, active);
	if (!error)
		error = guard_it(anchor, ifindex, active);
	if (active >= 0)
		close(active);
	return error;
}
