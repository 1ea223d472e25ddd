/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Group commit: the requests that wait when a turn of the loop comes are answered together. All
 * that only read share a snapshot; all that write share one transaction, and are answered when it
 * is durable and in force.
 */
#ifndef XB_BLOOMD_GROUP_H
#define XB_BLOOMD_GROUP_H

#include "bloomd/api/client.h"
#include "bloomd/base/agent.h"

struct group;

/* Returns 0, or an error with its message. The caller stops the group in either case. */
int group_start(struct agent *agent, struct clients clients[SOCKETS], struct group **group);
void group_stop(struct group *group);

#define GROUP_IDLE UINT64_MAX

/* Answers the clients that wait, as many as one turn may; clients that are at their end are freed.
 * Returns after how many microseconds the next turn is due, GROUP_IDLE if nothing waits. */
uint64_t group_turn(struct group *group);

#endif
