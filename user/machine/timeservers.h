/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NTP servers in use. */
#ifndef XB_MACHINE_TIMESERVERS_H
#define XB_MACHINE_TIMESERVERS_H

struct xb_lifelines;

/* Adds the servers that chrony, ntpd and systemd-timesyncd configure by address, those to which
 * connected UDP sockets lead, and those that a running chronyd names within a second. */
int xb_time_servers_find(struct xb_lifelines *out);

#endif
