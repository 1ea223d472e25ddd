/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the file of peers (machine/peerfile.h): where the servers are that bloomd talks to, so that
 * nobody cuts it off from them by listing an address. */
#ifndef XB_BLOOMD_PEERS_H
#define XB_BLOOMD_PEERS_H

#include "bloomd/base/agent.h"

struct peers;

typedef void peers_changed(void *context);

/*
 * Looks up all hosts of the configuration as soon as the loop runs, then every few minutes, and
 * when agent_missed_server() asks for it. Each name is looked up by a process of bloomd-fetch; what
 * it says is checked. changed: after the file was written. Returns 0 or an error with its message;
 * in either case *peers is for peers_stop().
 */
int peers_start(struct agent *agent, peers_changed *changed, void *context, struct peers **peers);

/* The configuration may be another now. */
void peers_reload(struct peers *peers);

void peers_stop(struct peers *peers);

#endif
