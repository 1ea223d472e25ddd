/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the filter can read what comes in on an interface: Ethernet frames that XDP gets to see.
 */
#ifndef XB_ATTACH_MEDIUM_H
#define XB_ATTACH_MEDIUM_H

#include "attach/netdev.h"

/* 0, or an error that says why not and what to attach instead. */
int xb_medium_check(const struct xb_netdev *device);

#endif
