/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NTP servers in use. */
#ifndef XB_MACHINE_TIMESERVERS_H
#define XB_MACHINE_TIMESERVERS_H

struct xb_lifelines;

/* Those configured by address for chrony, ntpd and systemd-timesyncd, those connected UDP sockets
 * lead to, and those a running chronyd names within a second. */
int xb_time_servers_find(struct xb_lifelines *out);

#endif
