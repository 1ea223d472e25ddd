/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses by rtnetlink. */
#include "machine/addresses.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "base/netlink.h"
#include "machine/sockaddr.h"

struct search {
	const struct xb_devices *devices;
	struct xb_lifelines *out;
};

static int on_address(const struct nlmsghdr *message, void *context)
{
	const struct ifaddrmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *address[IFA_MAX + 1], *local;
	const struct search *search = context;
	const struct xb_device *device = xb_device_find(search->devices, header->ifa_index);
	struct xb_entry entry;

	if (!device || (!device->chosen && !device->running))
		return 0;
	xb_netlink_attributes(message, sizeof(*header), address, IFA_MAX);
	/* On a point-to-point link IFA_ADDRESS is the other end. */
	local = address[IFA_LOCAL] ? address[IFA_LOCAL] : address[IFA_ADDRESS];
	if (!local ||
	    !xb_address_from_bytes(header->ifa_family, mnl_attr_get_payload(local), &entry))
		return 0;
	if (!device->chosen)
		return xb_address_is_link_local(&entry)
			       ? 0
			       : xb_lifelines_see_device(search->out, &entry, device->name);
	return xb_lifelines_add(search->out, &entry, XB_LIFELINE_ADDRESS, XB_WHY_ADDRESS,
				device->name);
}

int xb_device_addresses(const struct xb_devices *devices, struct xb_lifelines *out)
{
	struct search search = {devices, out};
	struct xb_netlink_request request;

	xb_netlink_begin(&request, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));
	return xb_netlink_ask(&request, on_address, &search);
}
