/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests go from bloomd to the server, and its answers back. */
#ifndef XB_REDIS_RELAY_H
#define XB_REDIS_RELAY_H

#include "redis/greeting.h"
#include "redis/stream.h"

/* Greets the server, says that it is ready, and relays until that is over. False: end says why;
 * true: bloomd is gone. */
bool relay_run(struct stream *stream, struct greeting *greeting, struct redis_end *end);

/* Sends a frame to bloomd, which always reads. False: bloomd is gone. */
bool relay_tell(struct iovec *parts, int count);

#endif
