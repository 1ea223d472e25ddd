/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the server of CrowdSec how many of its decisions are in force, and what was dropped for
 * them, as its own bouncers do. */
#ifndef XB_BLOOMD_USAGE_H
#define XB_BLOOMD_USAGE_H

#include "bloomd/base/agent.h"
#include "bloomd/crowdsec/bans.h"
#include "bloomd/crowdsec/csconfig.h"

struct usage;

/* bans: to be counted when they are told; it stays where it is. Waits for usage_ready(). */
int usage_start(struct agent *agent, const struct crowdsec_config *config, const struct bans *bans,
		struct usage **usage);
void usage_stop(struct usage *usage);

/* The bans are in force: tells them now for the first time. */
void usage_ready(struct usage *usage);

/* The same configuration is elsewhere now. */
void usage_moved(struct usage *usage, const struct crowdsec_config *config);

#endif
