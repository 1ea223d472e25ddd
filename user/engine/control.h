/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of the administrator to bloomd: a socket of root alone in the run directory; one line
 * each way. */
#ifndef XB_ENGINE_CONTROL_H
#define XB_ENGINE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "base/paths.h"

#define XB_CONTROL_SOCKET "control.sock" /* in the run directory */
#define XB_CONTROL_LINE	  512		 /* bytes of a line, its end and a NUL included */

/* Its address; with a message if the path is too long for one. */
int xb_control_address(const struct xb_paths *paths, struct sockaddr_un *address);

/* Whether bloomd listens there. */
bool xb_control_is_there(const struct xb_paths *paths);
/* The same, or this process may not ask. */
bool xb_control_may_be_there(const struct xb_paths *paths);

/* Whether something on this machine takes out what has expired: bloomd, or the timer
 * xdp-bloom-expire, if systemd runs it. True for who may not ask. */
bool xb_control_expiry_is_tended(const struct xb_paths *paths);

/*
 * Sends a line (without its end) and waits for the answer, at most a few seconds. reply: the
 * answer without the word that says how it went, safe for a terminal. Returns 0, or an error with
 * its message: nobody listens, or what bloomd refuses.
 */
int xb_control_ask(const struct xb_paths *paths, const char *line, char reply[XB_CONTROL_LINE]);

#endif
