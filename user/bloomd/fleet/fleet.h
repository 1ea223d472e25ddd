/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fleet: shares lists with other hosts through a server: docs/design.md, "Fleet". */
#ifndef XB_BLOOMD_FLEET_H
#define XB_BLOOMD_FLEET_H

#include "bloomd/base/agent.h"
#include "engine/control.h"

struct fleet;

/* *fleet is NULL if the configuration has no such section, and the store is in no fleet. */
int fleet_start(struct agent *agent, struct fleet **fleet);
void fleet_stop(struct fleet *fleet);

/* Takes over agent->config, which is new; that before it may go afterwards. */
int fleet_reload(struct agent *agent, struct fleet **fleet);

/* Answers the requests of an operator: "accept", "resync"; "verify LIMIT" with a number, and
 * "verifying NUMBER" with "busy DONE TOTAL" (bytes), "done" or "failed WHY". fleet may be NULL. */
void fleet_answer(struct fleet *fleet, const char *request, char reply[XB_CONTROL_LINE]);

#endif
