/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes packets come in: has the kernel ask neighbours on an interface whether they are there. */
#ifndef XB_MACHINE_NEIGHBOURS_H
#define XB_MACHINE_NEIGHBOURS_H

#include <stdint.h>

/*
 * Asks the gateways of default routes over the interface, and a few other neighbours that the
 * kernel knows there, by one ARP or neighbour request each (NUD_PROBE). The kernel does not ask
 * neighbours that somebody has entered by hand. Returns how many were asked, 0 also if that cannot
 * be found out.
 */
unsigned int xb_neighbours_ask(uint32_t ifindex);

#endif
