/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tends known sources each minute, so that their filter grows and forgets in time, and saves them
 * each hour. */
#ifndef XB_BLOOMD_KNOWN_H
#define XB_BLOOMD_KNOWN_H

#include "bloomd/base/agent.h"

struct known;

int known_start(struct agent *agent, struct known **known);
void known_stop(struct known *known);

#endif
