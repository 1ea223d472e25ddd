/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The write that makes the store say what the configuration says of the fleet. */
#ifndef XB_BLOOMD_FLEETJOINING_H
#define XB_BLOOMD_FLEETJOINING_H

#include "bloomd/base/agent.h"

/* Joins the fleet of agent->config and sets the shares, or leaves if it has none. Returns 0, or an
 * error as xb_write() does. */
int joining_write(struct agent *agent);

/* Whether the store has a record of a fleet. 1, 0, or an error with its message. */
int joining_is_member(const struct agent *agent);

#endif
