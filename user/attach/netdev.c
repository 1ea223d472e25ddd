/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network devices by rtnetlink, what their drivers can by the netdev family of generic netlink. */
#include "attach/netdev.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/netlink.h"

#define ALTNAME_BYTES 128 /* the kernel's ALTIFNAMSIZ */

static void read_program(const struct nlattr *xdp, struct xb_netdev *device)
{
	const struct nlattr *part[IFLA_XDP_MAX + 1];
	uint32_t native, skb;

	xb_netlink_nested(xdp, part, IFLA_XDP_MAX);
	native = xb_netlink_u32(part[IFLA_XDP_DRV_PROG_ID]);
	skb = xb_netlink_u32(part[IFLA_XDP_SKB_PROG_ID]);
	device->program = native ? native : skb ? skb : xb_netlink_u32(part[IFLA_XDP_PROG_ID]);
	device->mode = skb && !native ? XB_MODE_SKB : XB_MODE_NATIVE;
}

/* rx_packets comes first in struct rtnl_link_stats64; the attribute is aligned to 4. A bond counts
 * what its members received (bond_get_stats()), also what it does not take from one that is not
 * active, which no program on the bond is called for. */
static void read_received(const struct nlattr *stats, struct xb_netdev *device)
{
	if (stats && mnl_attr_get_payload_len(stats) >= sizeof(device->received) &&
	    strcmp(device->kind, "bond") != 0)
		memcpy(&device->received, mnl_attr_get_payload(stats), sizeof(device->received));
}

static void read_device(const struct nlmsghdr *message, struct xb_netdev *device)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *link[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];

	*device = (struct xb_netdev){.ifindex = (uint32_t)header->ifi_index,
				     .type = header->ifi_type};
	xb_netlink_attributes(message, sizeof(*header), link, IFLA_MAX);
	if (link[IFLA_IFNAME])
		snprintf(device->name, sizeof(device->name), "%s",
			 mnl_attr_get_str(link[IFLA_IFNAME]));
	xb_netlink_nested(link[IFLA_LINKINFO], info, IFLA_INFO_MAX);
	if (info[IFLA_INFO_KIND])
		snprintf(device->kind, sizeof(device->kind), "%s",
			 mnl_attr_get_str(info[IFLA_INFO_KIND]));
	read_program(link[IFLA_XDP], device);
	device->mtu = xb_netlink_u32(link[IFLA_MTU]);
	device->ups = xb_netlink_u32(link[IFLA_CARRIER_UP_COUNT]);
	read_received(link[IFLA_STATS64], device);
}

static int on_device(const struct nlmsghdr *message, void *context)
{
	read_device(message, context);
	return 0;
}

static int ask(struct xb_netlink_request *request, struct xb_netdev *device)
{
	int error;

	mnl_attr_put_u32((struct nlmsghdr *)request->bytes, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	error = xb_netlink_ask(request, on_device, device);
	if (error == -ENODEV || error == -ENOENT) {
		*device = (struct xb_netdev){0};
		return 0;
	}
	return error;
}

int xb_netdev_by_name(const char *name, struct xb_netdev *device)
{
	struct xb_netlink_request request;

	*device = (struct xb_netdev){0};
	if (!name[0] || strlen(name) >= ALTNAME_BYTES)
		return 0;
	xb_netlink_begin(&request, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz((struct nlmsghdr *)request.bytes, IFLA_ALT_IFNAME, name);
	return ask(&request, device);
}

int xb_netdev_by_index(uint32_t ifindex, struct xb_netdev *device)
{
	struct xb_netlink_request request;
	struct ifinfomsg *header;

	*device = (struct xb_netdev){0};
	if (!ifindex || ifindex > INT32_MAX)
		return 0;
	header = xb_netlink_begin(&request, RTM_GETLINK, 0, sizeof(*header));
	header->ifi_index = (int)ifindex;
	return ask(&request, device);
}

struct collection {
	struct xb_netdev *item;
	size_t count, room;
};

static int collect(const struct nlmsghdr *message, void *context)
{
	struct collection *all = context;
	int error = xb_array_grow(&all->item, &all->room, all->count + 1, sizeof(*all->item));

	if (!error)
		read_device(message, &all->item[all->count++]);
	return error;
}

int xb_netdev_all(struct xb_netdev **out, size_t *count)
{
	struct xb_netlink_request request;
	struct collection all = {0};
	int error;

	xb_netlink_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	error = xb_netlink_ask(&request, collect, &all);
	*out = error ? NULL : all.item;
	*count = error ? 0 : all.count;
	if (error)
		free(all.item);
	return error;
}

/* The netdev family, Linux 6.3: Documentation/netlink/specs/netdev.yaml. */
#define NETDEV_DEV_GET	     1
#define NETDEV_IFINDEX	     1
#define NETDEV_XDP_FEATURES  3
#define NETDEV_FEATURE_BASIC 1U

static int on_family(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *family[CTRL_ATTR_MAX + 1];
	uint16_t *identity = context;

	xb_netlink_attributes(message, GENL_HDRLEN, family, CTRL_ATTR_MAX);
	if (family[CTRL_ATTR_FAMILY_ID])
		*identity = mnl_attr_get_u16(family[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

static int on_features(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *features[NETDEV_XDP_FEATURES + 1];
	enum xb_support *native = context;

	xb_netlink_attributes(message, GENL_HDRLEN, features, NETDEV_XDP_FEATURES);
	if (features[NETDEV_XDP_FEATURES] &&
	    mnl_attr_get_payload_len(features[NETDEV_XDP_FEATURES]) >= sizeof(uint64_t))
		*native = mnl_attr_get_u64(features[NETDEV_XDP_FEATURES]) & NETDEV_FEATURE_BASIC
				  ? XB_SUPPORT_YES
				  : XB_SUPPORT_NO;
	return 0;
}

static struct nlmsghdr *begin_generic(struct xb_netlink_request *request, uint16_t family,
				      uint8_t command)
{
	struct genlmsghdr *header = xb_netlink_begin(request, family, 0, sizeof(*header));

	header->cmd = command;
	header->version = 1;
	return (struct nlmsghdr *)request->bytes;
}

enum xb_support xb_netdev_has_native(uint32_t ifindex)
{
	enum xb_support native = XB_SUPPORT_UNKNOWN;
	struct xb_netlink_request request;
	uint16_t family = 0;

	mnl_attr_put_strz(begin_generic(&request, GENL_ID_CTRL, CTRL_CMD_GETFAMILY),
			  CTRL_ATTR_FAMILY_NAME, "netdev");
	if (xb_netlink_ask_generic(&request, on_family, &family) || !family)
		return XB_SUPPORT_UNKNOWN;
	mnl_attr_put_u32(begin_generic(&request, family, NETDEV_DEV_GET), NETDEV_IFINDEX, ifindex);
	if (xb_netlink_ask_generic(&request, on_features, &native))
		return XB_SUPPORT_UNKNOWN;
	return native;
}
