/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which the single changes of one change come into force. */
#ifndef XB_FILTER_PHASE_H
#define XB_FILTER_PHASE_H

#include "store/changes.h"

/*
 * What allows comes first, what drops after it; then what dropped goes, and what allowed goes last.
 * So each source meets, at every moment, what it met before, or what it meets afterwards; and never
 * anything else if that is the same, also where other entries cover it before and after.
 */
enum xb_phase {
	XB_PHASE_ALLOW,
	XB_PHASE_LIST,	 /* and verdicts of names that become stricter */
	XB_PHASE_UNLIST, /* and those that become less strict */
	XB_PHASE_DISALLOW,
	XB_PHASES,
};

/* An altered name takes part in two phases. */
bool xb_phase_has(enum xb_phase phase, const struct xb_change *change);

/*
 * Whether a packet may come from a source that this phase and an earlier one both touch. Such a
 * packet, when it has read the place of the one before that was changed, must not read that of the
 * other after it: all packets in work have to be waited for between the two. True also if there are
 * too many to tell.
 */
bool xb_phase_meets_earlier(const struct xb_changes *changes, enum xb_phase phase);

#endif
