/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows the machine: what changes of its network, its name servers and its pins is looked at
 * within seconds, and what `bloomctl up` would do is done where it makes a difference. */
#ifndef XB_BLOOMD_EVENTS_H
#define XB_BLOOMD_EVENTS_H

#include "bloomd/base/agent.h"

struct events;

/* Looks for the first time as soon as the loop runs. Returns 0 or an error with its message; in
 * either case *events is for events_stop(). */
int events_start(struct agent *agent, struct events **events);
void events_stop(struct events *events);

/* What a survey finds may be something else now. */
void events_notice(struct events *events);

#endif
