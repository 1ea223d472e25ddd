/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bouncer: follows the decisions of a local API of CrowdSec, and keeps a list of the bans. */
#ifndef XB_BLOOMD_CROWDSEC_H
#define XB_BLOOMD_CROWDSEC_H

#include "bloomd/base/agent.h"

struct crowdsec;

/* *crowdsec is NULL if the configuration has no such section. */
int crowdsec_start(struct agent *agent, struct crowdsec **crowdsec);
void crowdsec_stop(struct crowdsec *crowdsec);

/* Takes over agent->config, which is new; that before it may go afterwards. Before feeds_reload(),
 * which deals with the list if the section is gone, and forgets feeds that are gone: they may have
 * filled the list. */
int crowdsec_reload(struct agent *agent, struct crowdsec **crowdsec);

/* Asks for all decisions now, if it has this name (NULL: any). Returns whether; NULL has none. */
bool crowdsec_update(struct crowdsec *crowdsec, const char *name);

#endif
