/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network devices by how they are stacked: packets that arrive on one go up to its bridge or bond
 * and to the VLANs on that. */
#ifndef XB_MACHINE_DEVICES_H
#define XB_MACHINE_DEVICES_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_device {
	uint32_t index;
	uint32_t master;    /* bridge, bond, VRF it belongs to; 0: none */
	uint32_t lower;	    /* the device a VLAN or macvlan sits on; 0: none */
	uint32_t vrf_table; /* routing table, if it is a VRF; else 0 */
	bool veth;	    /* what it sends arrives at its other end */
	bool vlans;	    /* where a frame goes on it depends on its VLAN */
	bool chosen;
	bool running; /* up, with a carrier */
	char name[IF_NAMESIZE];
};

struct xb_devices {
	struct xb_device *item; /* all of this network namespace */
	size_t count, room;
};

/* The devices; chosen are those given and all above them. The caller frees it, in case of failure
 * too. */
int xb_devices_find(const uint32_t *ifindexes, size_t count, struct xb_devices *devices);
void xb_devices_free(struct xb_devices *devices);

/* Whether any device goes by VLANs; whether one above this one does. What sits on this one in
 * another network namespace is not seen. Changes which are chosen. */
bool xb_devices_have_vlans(const struct xb_devices *devices);
bool xb_device_has_vlans_above(struct xb_devices *devices, uint32_t index);

/* NULL: there is none of this number. */
struct xb_device *xb_device_find(const struct xb_devices *devices, uint32_t index);

/* NULL: not a chosen one. */
const struct xb_device *xb_device_chosen(const struct xb_devices *devices, uint32_t index);

#endif
