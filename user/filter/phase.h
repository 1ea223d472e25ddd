/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which the single changes of one change come into force. */
#ifndef XB_FILTER_PHASE_H
#define XB_FILTER_PHASE_H

#include "store/changes.h"

/*
 * New allowlist entries come first, new listed entries second; then listed entries are removed, and
 * allowlist entries last. Names that become final come before what is listed above them, deeper
 * ones first, and names that cease to be behind what is removed there; in between, what is above
 * plays no part for them (filter/namesteps.h). So at every moment each source gets the verdict that
 * it had before or the one that it has afterwards. If both are the same, it never gets another,
 * also if different entries cover it before and after.
 */
enum xb_phase {
	XB_PHASE_ALLOW,
	XB_PHASE_EXCEPT,
	XB_PHASE_LIST,	 /* and verdicts of names that become stricter */
	XB_PHASE_UNLIST, /* and those that become less strict */
	XB_PHASE_UNEXCEPT,
	XB_PHASE_DISALLOW,
	XB_PHASES,
};

/* An altered name takes part in two phases. */
bool xb_phase_has(enum xb_phase phase, const struct xb_change *change);

/*
 * Whether a packet may come from a source that both this phase and an earlier one touch. Such a
 * packet could have read the earlier place before its change and the later place after it; so
 * between the two phases, the writer must wait until all packets in work are done. Each entry is
 * among the changes once (xb_changes_settle()). True also if there are too many changes, or too
 * little memory, to tell.
 */
bool xb_phase_meets_earlier(const struct xb_changes *changes, enum xb_phase phase);

#endif
