/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links by rtnetlink. */
#include "machine/devices.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/netlink.h"

/* Of these IFLA_LINK names the device below. Elsewhere it is the other end (veth), or the packets
 * come in wrapped, from another source (tunnels). */
static bool sits_on_its_link(const char *kind)
{
	static const char *const kinds[] = {"vlan",   "macvlan", "macvtap",
					    "ipvlan", "ipvtap",	 "macsec"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

/* A bridge without filtering of VLANs takes no notice of tags. */
static bool goes_by_vlans(const char *kind, const struct nlattr *data)
{
	const struct nlattr *bridge[IFLA_BR_MAX + 1], *filtering;

	if (strcmp(kind, "bridge") != 0)
		return !strcmp(kind, "vlan") || !strcmp(kind, "openvswitch");
	xb_netlink_nested(data, bridge, IFLA_BR_MAX);
	filtering = bridge[IFLA_BR_VLAN_FILTERING];
	return filtering && mnl_attr_get_payload_len(filtering) && mnl_attr_get_u8(filtering);
}

static void read_link_info(const struct nlattr **link, struct xb_device *device)
{
	const struct nlattr *info[IFLA_INFO_MAX + 1], *vrf[IFLA_VRF_MAX + 1];
	const char *kind;

	xb_netlink_nested(link[IFLA_LINKINFO], info, IFLA_INFO_MAX);
	if (!info[IFLA_INFO_KIND])
		return;
	kind = mnl_attr_get_str(info[IFLA_INFO_KIND]);
	device->veth = !strcmp(kind, "veth");
	device->vlans = goes_by_vlans(kind, info[IFLA_INFO_DATA]);
	if (sits_on_its_link(kind) && !link[IFLA_LINK_NETNSID])
		device->lower = xb_netlink_u32(link[IFLA_LINK]);
	if (!strcmp(kind, "vrf")) {
		xb_netlink_nested(info[IFLA_INFO_DATA], vrf, IFLA_VRF_MAX);
		device->vrf_table = xb_netlink_u32(vrf[IFLA_VRF_TABLE]);
	}
}

static int on_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *link[IFLA_MAX + 1];
	struct xb_devices *devices = context;
	struct xb_device *device;
	int error =
		xb_array_grow(&devices->item, &devices->room, devices->count + 1, sizeof(*device));

	if (error)
		return error;
	device = &devices->item[devices->count++];
	*device = (struct xb_device){.index = (uint32_t)header->ifi_index,
				     .running = header->ifi_flags & IFF_RUNNING};
	xb_netlink_attributes(message, sizeof(*header), link, IFLA_MAX);
	device->master = xb_netlink_u32(link[IFLA_MASTER]);
	if (link[IFLA_IFNAME])
		snprintf(device->name, sizeof(device->name), "%s",
			 mnl_attr_get_str(link[IFLA_IFNAME]));
	read_link_info(link, device);
	return 0;
}

struct xb_device *xb_device_find(const struct xb_devices *devices, uint32_t index)
{
	for (size_t i = 0; index && i < devices->count; i++)
		if (devices->item[i].index == index)
			return &devices->item[i];
	return NULL;
}

static bool choose(struct xb_device *device)
{
	bool news = device && !device->chosen;

	if (news)
		device->chosen = true;
	return news;
}

/* One step up from all that are chosen. Returns whether there was one. */
static bool choose_above(struct xb_devices *devices)
{
	bool news = false;

	for (size_t i = 0; i < devices->count; i++) {
		struct xb_device *device = &devices->item[i];

		if (device->chosen)
			news |= choose(xb_device_find(devices, device->master));
		else if (xb_device_chosen(devices, device->lower))
			news |= choose(device);
	}
	return news;
}

int xb_devices_find(const uint32_t *ifindexes, size_t count, struct xb_devices *devices)
{
	struct xb_netlink_request request;
	int error;

	*devices = (struct xb_devices){0};
	xb_netlink_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	error = xb_netlink_ask(&request, on_link, devices);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		choose(xb_device_find(devices, ifindexes[i]));
	while (choose_above(devices))
		;
	return 0;
}

bool xb_devices_have_vlans(const struct xb_devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->item[i].vlans)
			return true;
	return false;
}

bool xb_device_has_vlans_above(struct xb_devices *devices, uint32_t index)
{
	for (size_t i = 0; i < devices->count; i++)
		devices->item[i].chosen = devices->item[i].index == index;
	while (choose_above(devices))
		;
	for (size_t i = 0; i < devices->count; i++)
		if (devices->item[i].chosen && devices->item[i].vlans &&
		    devices->item[i].index != index)
			return true;
	return false;
}

void xb_devices_free(struct xb_devices *devices)
{
	free(devices->item);
	*devices = (struct xb_devices){0};
}

const struct xb_device *xb_device_chosen(const struct xb_devices *devices, uint32_t index)
{
	const struct xb_device *device = xb_device_find(devices, index);

	return device && device->chosen ? device : NULL;
}
