/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The routers this machine's default routes lead to. */
#ifndef XB_MACHINE_GATEWAYS_H
#define XB_MACHINE_GATEWAYS_H

struct xb_devices;
struct xb_lifelines;

/*
 * Adds the next hops of default routes out of the chosen devices: IPv4 in the tables that rules and
 * chosen VRFs lead to, IPv6 in all tables. Of IPv4 tables only the beginning is read; of IPv6
 * tables the routes out of these devices.
 */
int xb_gateways_find(const struct xb_devices *devices, struct xb_lifelines *out);

#endif
