/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The URL of a fleet's server. */
#ifndef XB_BLOOMD_CONNURL_H
#define XB_BLOOMD_CONNURL_H

#include "redis/wire.h"

/* Sets host, port and tls, or socket. Returns 0, or an error with its message. */
int connurl_read(const char *url, struct redis_place *place);

#endif
