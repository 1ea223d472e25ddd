/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and numbers of interfaces. "There is none" is told apart from "it cannot be determined",
 * as when no descriptor is left. */
#ifndef XB_BASE_IFNAME_H
#define XB_BASE_IFNAME_H

#include <net/if.h>
#include <stdint.h>

/* *ifindex 0: no interface is called so. */
int xb_ifindex(const char *name, uint32_t *ifindex);

/* name "": there is no such interface. */
int xb_ifname(uint32_t ifindex, char name[IF_NAMESIZE]);

#endif
