/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of frames an interface has, by rtnetlink. */
#include "medium.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "netlink.h"

struct medium {
	uint16_t type; /* ARPHRD_... */
	char kind[32]; /* as `ip link add type` calls it; empty: hardware, or old style */
};

static int on_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *link[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct medium *medium = context;

	medium->type = header->ifi_type;
	xb_netlink_attributes(message, sizeof(*header), link, IFLA_MAX);
	xb_netlink_nested(link[IFLA_LINKINFO], info, IFLA_INFO_MAX);
	if (info[IFLA_INFO_KIND])
		snprintf(medium->kind, sizeof(medium->kind), "%s",
			 mnl_attr_get_str(info[IFLA_INFO_KIND]));
	return 1;
}

static int ask(uint32_t ifindex, struct medium *medium)
{
	struct xb_netlink_request request;
	struct ifinfomsg *header =
		xb_netlink_begin(&request, RTM_GETLINK, 0, sizeof(struct ifinfomsg));

	*medium = (struct medium){0};
	header->ifi_index = (int)ifindex;
	return xb_netlink_ask(&request, on_link, medium);
}

/*
 * Their type is Ethernet, but no packet reaches XDP on them: tc redirects to an ifb behind the
 * place where XDP runs, and a VRF takes packets from its ports at the IP layer.
 */
static const struct {
	const char *kind, *instead;
} unseen[] = {
	{"ifb", "the interface its traffic is redirected from"},
	{"vrf", "the interfaces in it"},
};

int xb_medium_check(uint32_t ifindex, const char *name)
{
	struct medium medium;
	int error = ask(ifindex, &medium);

	if (error)
		return error == -ENODEV ? xb_input_error("%s: no such interface", name) : error;
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (!strcmp(medium.kind, unseen[i].kind))
			return xb_input_error(
				"%s: XDP sees no packet on %s devices; attach %s instead", name,
				medium.kind, unseen[i].instead);
	if (medium.type == ARPHRD_ETHER || medium.type == ARPHRD_LOOPBACK)
		return 0;
	if (!medium.kind[0])
		snprintf(medium.kind, sizeof(medium.kind), "type %u", medium.type);
	return xb_input_error("%s: packets of this device (%s) have no Ethernet header, so the "
			      "filter cannot read them; attach the Ethernet interface that they "
			      "come in on instead%s",
			      name, medium.kind,
			      medium.type == ARPHRD_PPP ? " (PPPoE is looked into there)" : "");
}
