/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The servers that make a machine part of its network: name servers and DHCP. */
#ifndef XB_MACHINE_SERVERS_H
#define XB_MACHINE_SERVERS_H

struct xb_lifelines;

/* Files and directories: where both look. A change there may be one of the servers. NULL is the
 * last. */
extern const char *const xb_server_places[];

/* Adds the name servers in resolv.conf; behind a resolver on this machine, also those that
 * systemd-resolved asks. */
int xb_resolvers_find(struct xb_lifelines *out);

/* Adds the DHCP servers in the leases of systemd-networkd, and in the last lease of each file of
 * dhclient. */
int xb_dhcp_servers_find(struct xb_lifelines *out);

#endif
