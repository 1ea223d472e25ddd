/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/linkaway.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/netlink.h"

#define PAUSE 10000 /* microseconds between two looks */

struct answer {
	struct xb_carrier carrier;
	bool there;
};

static int on_link(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *link[IFLA_MAX + 1];
	struct answer *answer = context;

	xb_netlink_attributes(message, sizeof(struct ifinfomsg), link, IFLA_MAX);
	answer->carrier.up = link[IFLA_CARRIER] && mnl_attr_get_u8(link[IFLA_CARRIER]);
	answer->carrier.changes = xb_netlink_u32(link[IFLA_CARRIER_CHANGES]);
	answer->there = true;
	return 0;
}

static bool ask_kernel(uint32_t ifindex, struct xb_carrier *carrier)
{
	struct xb_netlink_request request;
	struct ifinfomsg *header =
		xb_netlink_begin(&request, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	struct answer answer = {0};

	header->ifi_index = (int)ifindex;
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (xb_netlink_ask(&request, on_link, &answer) || !answer.there)
		return false;
	*carrier = answer.carrier;
	return true;
}

static xb_carrier_look *ask = ask_kernel;
static struct xb_links *collected;

void xb_links_ask(xb_carrier_look *whom)
{
	ask = whom ? whom : ask_kernel;
}

void xb_links_collect(struct xb_links *links)
{
	collected = links;
}

const struct xb_link *xb_links_of(const struct xb_links *links, uint32_t ifindex)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->item[i].ifindex == ifindex)
			return &links->item[i];
	return NULL;
}

void xb_links_before(uint32_t ifindex)
{
	struct xb_carrier carrier;

	if (!collected || collected->count == XB_LINKS_MAX || xb_links_of(collected, ifindex) ||
	    !ask(ifindex, &carrier) || !carrier.up)
		return;
	collected->item[collected->count++] = (struct xb_link){
		.ifindex = ifindex, .changes = carrier.changes, .begun = xb_clock()};
}

/* Whether it is still to be waited for. */
static bool is_away(struct xb_link *link, uint64_t limit)
{
	uint64_t passed = xb_clock() - link->begun;
	struct xb_carrier carrier;

	if (link->back || !ask(link->ifindex, &carrier))
		return false;
	link->back = carrier.up;
	/* Rounded up: 0 is that of a link that stayed. */
	link->away = carrier.up && carrier.changes == link->changes ? 0 : passed / 1000 + 1;
	return !carrier.up && passed < limit;
}

void xb_links_wait(struct xb_links *links, uint64_t limit)
{
	size_t away;

	do {
		away = 0;
		for (size_t i = 0; i < links->count; i++)
			away += is_away(&links->item[i], limit);
		if (away)
			usleep(PAUSE);
	} while (away);
}
