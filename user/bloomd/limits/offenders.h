/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the sources that the filter reports to be over a limit with a list. */
#ifndef XB_BLOOMD_OFFENDERS_H
#define XB_BLOOMD_OFFENDERS_H

#include "bloomd/base/agent.h"

struct offenders;

int offenders_start(struct agent *agent, struct offenders **offenders);
void offenders_stop(struct offenders *offenders);

#endif
