/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets by which Postfix asks whether a client is listed: one speaks its socketmap protocol,
 * the other that of its policy delegation. */
#ifndef XB_BLOOMD_POSTFIX_H
#define XB_BLOOMD_POSTFIX_H

#include "bloomd/base/agent.h"

struct postfix;

/* Opens the sockets that the configuration names. Returns 0, or an error with its message; the
 * caller stops it in either case. */
int postfix_start(struct agent *agent, struct postfix **postfix);
void postfix_stop(struct postfix *postfix);

/* Takes the configuration that the agent has now. After an error, with its message, one that
 * could not be opened anew is as it was, and those behind it, too. */
int postfix_reload(struct postfix *postfix);

#endif
