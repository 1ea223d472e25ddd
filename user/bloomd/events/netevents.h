/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rtnetlink tells of links, addresses, default routes, rules and next hops that change, in the
 * network namespace of this process. */
#ifndef XB_BLOOMD_NETEVENTS_H
#define XB_BLOOMD_NETEVENTS_H

#include <systemd/sd-event.h>

struct netevents;

typedef void netevents_changed(void *context);

/* Calls changed() for each change, also if some were lost. A message that tells nothing new, as of
 * a link that only lost its carrier, is no change. Returns 0 or an error with its message; in
 * either case *netevents is for netevents_stop(). */
int netevents_start(sd_event *loop, netevents_changed *changed, void *context,
		    struct netevents **netevents);
void netevents_stop(struct netevents *netevents);

#endif
