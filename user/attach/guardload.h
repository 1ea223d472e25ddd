/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the guard of a trial for an anchor. */
#ifndef XB_ATTACH_GUARDLOAD_H
#define XB_ATTACH_GUARDLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "attach/anchor.h"
#include "attach/guard.h"

/*
 * Loads and pins a guard, which is not in force yet. tried, former: descriptors of programs; -1:
 * on that side packets pass unfiltered. If state->everywhere is 0, only the interfaces in
 * ifindexes are on trial.
 */
int xb_guard_create(const struct xb_anchor *anchor, const struct xb_trial_cell *state, int tried,
		    int former, const uint32_t *ifindexes, size_t count, struct xb_guard *guard);

#endif
