/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new generation while the old one goes on enforcing and taking changes. */
#ifndef XB_ENGINE_ROTATE_H
#define XB_ENGINE_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/paths.h"
#include "store/trialrecord.h"
#include "xdp_bloom/layout.h"

struct xb_rotation {
	double rate;	   /* 0: as it is */
	uint64_t capacity; /* with set_capacity: keys to make room for, 0: by what is listed */
	bool set_capacity;
	bool set_confirm, confirm;  /* with set_confirm: whether hits are confirmed */
	const struct xb_wish *wish; /* NULL: lasting; else on trial */
	bool commits;		    /* the trial that goes on, which was this rotation */
};

/* *params (may be NULL): what is in force now; generation 0 if nothing is attached, and the wish is
 * kept for then. */
int xb_rotate(const struct xb_paths *paths, const struct xb_rotation *rotation,
	      struct xb_params *params);

/*
 * What may follow the acknowledgement: a filter that a change left full is grown. Call it after the
 * answer is out; it does nothing when no change of this process asked for it.
 */
void xb_write_settle(const struct xb_paths *paths);

#endif
