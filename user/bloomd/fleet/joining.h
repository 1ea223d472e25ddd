/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the store say what the configuration says of the fleet, in a process of its own: a list
 * that is shared anew is read from its first entry to its last, and may go to the outbox as a
 * whole. */
#ifndef XB_BLOOMD_FLEETJOINING_H
#define XB_BLOOMD_FLEETJOINING_H

#include "bloomd/base/agent.h"

struct joining;

enum joining_outcome {
	JOINING_DONE,
	JOINING_BUSY,	/* others had the store for long */
	JOINING_FAILED, /* the process has said why, unless it was to be quiet */
};
typedef void joining_ended(void *context, enum joining_outcome outcome);

/* Joins the fleet of agent->config and sets the shares, or leaves if it has none. Calls `ended`
 * once, from the loop; *joining is freed then. Returns 0, or an error with its message. */
int joining_start(struct agent *agent, bool quiet, joining_ended *ended, void *context,
		  struct joining **joining);

/* Ends the process: nothing is changed, or everything is. NULL: nothing. */
void joining_stop(struct joining *joining);

/* Whether the store has a record of a fleet. 1, 0, or an error with its message. */
int joining_is_member(const struct agent *agent);

#endif
