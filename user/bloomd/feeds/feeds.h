/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetches each configured feed when its time has come, a few at once, and has the lists imported
 * one after another by a process of its own. */
#ifndef XB_BLOOMD_FEEDS_H
#define XB_BLOOMD_FEEDS_H

#include "bloomd/base/agent.h"

struct feeds;

int feeds_start(struct agent *agent, struct feeds **feeds);
void feeds_stop(struct feeds *feeds);

/* First in a reload, with the new agent->config: nothing is under way any more that would put
 * something into a list that another section fills now, or empty one that some section fills. */
void feeds_stand_back(struct feeds *feeds);

/* Takes over agent->config, which is new; that before it may go afterwards. */
void feeds_reload(struct feeds *feeds);

/* Fetches the feed now, or all of them (name NULL). Returns how many; 0: there is no such feed. */
unsigned int feeds_update(struct feeds *feeds, const char *name);

#endif
