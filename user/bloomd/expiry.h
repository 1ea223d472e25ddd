/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes entries out when their time has come: within a second of it, and not before. */
#ifndef XB_BLOOMD_EXPIRY_H
#define XB_BLOOMD_EXPIRY_H

#include "bloomd/base/agent.h"

struct expiry;

/* Begins to watch the store for times to come; it may not be there yet. */
int expiry_start(struct agent *agent, struct expiry **expiry);
void expiry_stop(struct expiry *expiry);

/* After a write of this process, or one that inotify tells of: looks for the next time. */
void expiry_look(struct expiry *expiry);

#endif
