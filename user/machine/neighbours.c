/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's table of neighbours, by rtnetlink. */
#include "machine/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>

#include "base/netlink.h"
#include "machine/survey.h"
#include "model/entry.h"

#define ASKED_MOST 4

struct neighbour {
	uint8_t family, size;
	uint8_t address[16];
};

struct neighbours {
	uint32_t ifindex;
	struct neighbour item[ASKED_MOST];
	unsigned int count;
};

/* Those that the kernel reaches, or has reached: they have a link address, and may be asked. */
static int on_neighbour(const struct nlmsghdr *message, void *context)
{
	const struct ndmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[NDA_MAX + 1];
	struct neighbours *found = context;
	struct neighbour *one;
	uint16_t size;

	xb_netlink_attributes(message, sizeof(*header), attribute, NDA_MAX);
	if ((uint32_t)header->ndm_ifindex != found->ifindex || !attribute[NDA_DST] ||
	    !attribute[NDA_LLADDR] ||
	    !(header->ndm_state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)))
		return 0;
	size = mnl_attr_get_payload_len(attribute[NDA_DST]);
	if (size > sizeof(one->address))
		return 0;
	one = &found->item[found->count++];
	one->family = header->ndm_family;
	one->size = (uint8_t)size;
	memcpy(one->address, mnl_attr_get_payload(attribute[NDA_DST]), size);
	return found->count == ASKED_MOST;
}

static void find_known(struct neighbours *found)
{
	struct xb_netlink_request request;

	xb_netlink_begin(&request, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, NDA_IFINDEX, found->ifindex);
	if (xb_netlink_ask(&request, on_neighbour, found))
		found->count = 0;
}

static int ask(const struct neighbours *on, const struct neighbour *one, uint16_t state,
	       uint8_t flags, uint16_t how)
{
	struct xb_netlink_request request;
	struct ndmsg *header = xb_netlink_begin(&request, RTM_NEWNEIGH, how, sizeof(*header));

	header->ndm_family = one->family;
	header->ndm_ifindex = (int)on->ifindex;
	header->ndm_state = state;
	header->ndm_flags = flags;
	mnl_attr_put((struct nlmsghdr *)request.bytes, NDA_DST, one->size, one->address);
	return xb_netlink_ask(&request, NULL, NULL);
}

static bool is_known(const struct neighbours *known, const struct neighbour *one)
{
	for (unsigned int i = 0; i < known->count; i++)
		if (known->item[i].family == one->family &&
		    !memcmp(known->item[i].address, one->address, one->size))
			return true;
	return false;
}

static struct neighbour of_entry(const struct xb_entry *entry)
{
	struct neighbour one = {
		.family = entry->kind == XB_NET6 || entry->kind == XB_ALLOW6 ? AF_INET6 : AF_INET};

	one.size = one.family == AF_INET6 ? 16 : 4;
	for (unsigned int i = 0; i < one.size; i++)
		one.address[i] = (uint8_t)((i < 8 ? entry->hi : entry->lo) >> (56 - 8 * (i % 8)));
	return one;
}

/* A gateway to which nothing was sent yet is in no table. Using it makes the kernel ask. */
static unsigned int ask_gateways(const struct neighbours *known)
{
	struct xb_lifelines found = {0};
	unsigned int asked = 0;

	if (!xb_lifelines_find(&known->ifindex, 1, NULL, 1U << XB_LIFELINE_GATEWAY, &found))
		for (size_t i = 0; i < found.count; i++) {
			struct neighbour one = of_entry(&found.item[i].entry);

			if (!is_known(known, &one))
				asked += !ask(known, &one, NUD_NONE, NTF_USE, NLM_F_CREATE);
		}
	xb_lifelines_free(&found);
	return asked;
}

unsigned int xb_neighbours_ask(uint32_t ifindex)
{
	struct neighbours known = {.ifindex = ifindex};
	unsigned int asked = 0;

	find_known(&known);
	for (unsigned int i = 0; i < known.count; i++)
		asked += !ask(&known, &known.item[i], NUD_PROBE, 0, 0);
	return asked + ask_gateways(&known);
}
