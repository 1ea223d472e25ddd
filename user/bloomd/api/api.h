/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets by which programs read and change lists: api.sock, and query.sock, which only reads.
 * They speak RESP2. */
#ifndef XB_BLOOMD_API_H
#define XB_BLOOMD_API_H

#include "bloomd/base/agent.h"

#define API_SOCKET   "api.sock" /* in the run directory */
#define QUERY_SOCKET "query.sock"

struct api;

/* Opens the sockets, unless the configuration turns them off. Returns 0, or an error with its
 * message; the caller stops it in either case. */
int api_start(struct agent *agent, struct api **api);
void api_stop(struct api *api);

/* Takes the configuration that the agent has now. After an error, with its message, the sockets
 * are as far changed as could be. */
int api_reload(struct api *api);

#endif
