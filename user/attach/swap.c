/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/swap.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/error.h"
#include "base/processor.h"

int xb_anchor_active(const struct xb_anchor *anchor, uint32_t *id)
{
	const struct xb_guard *guard = &anchor->guard;

	if (guard->program < 0)
		return xb_anchor_slot(anchor, id);
	return xb_guard_side(guard, guard->state.everywhere ? XB_FORMER : XB_TRIED, id);
}

/*
 * A packet that finds the new program must find what its maps were filled with. No read depends on
 * the one of the slot but by the branch to the program, which orders reads on x86 alone. A grace
 * period does elsewhere: who sees what came after it sees all that came before it.
 */
static void let_maps_be_seen(void)
{
	if (!XB_READS_IN_ORDER)
		xb_anchor_quiesce();
}

int xb_anchor_set_slot(const struct xb_anchor *anchor, int program)
{
	uint32_t zero = 0;

	let_maps_be_seen();
	if (bpf_map_update_elem(anchor->slot, &zero, &program, BPF_ANY))
		return xb_system_error(errno, "cannot put the new filter in force");
	return 0;
}

int xb_anchor_swap(const struct xb_anchor *anchor, int program)
{
	const struct xb_guard *guard = &anchor->guard;

	if (guard->program >= 0 && !guard->state.everywhere) {
		let_maps_be_seen();
		return xb_guard_set_side(guard, XB_TRIED, program);
	}
	return xb_anchor_set_slot(anchor, program);
}

void xb_anchor_quiesce(void)
{
	/* Refused where processors run without a tick (nohz_full): no packet takes so long. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(100000);
}
