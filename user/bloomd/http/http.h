/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The web server, which only shows: /metrics, /healthz, /status.json, /history.json, and a page. */
#ifndef XB_BLOOMD_HTTP_H
#define XB_BLOOMD_HTTP_H

#include "bloomd/base/agent.h"

struct http;

/* Listens where the configuration says; *http: NULL if it says nothing. An error with its
 * message. */
int http_start(struct agent *agent, struct http **http);

/* Takes over what the new configuration says. If that fails, with a message, the server stays as it
 * was. */
int http_reload(struct agent *agent, struct http **http);

void http_stop(struct http *http);

#endif
