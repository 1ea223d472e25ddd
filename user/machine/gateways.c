/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules, default routes and next hop objects by rtnetlink. */
#include "machine/gateways.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/netlink.h"
#include "machine/devices.h"
#include "machine/lifelines.h"
#include "machine/sockaddr.h"

/* Different numbers, a few of them. */
struct numbers {
	uint32_t *item;
	size_t count, room;
};

struct search {
	const struct xb_devices *devices;
	struct xb_lifelines *out;
	struct numbers tables;	 /* to search for IPv4 */
	struct numbers nexthops; /* objects that routes named without saying what is in them */
};

static int note(struct numbers *numbers, uint32_t number)
{
	int error;

	for (size_t i = 0; i < numbers->count; i++)
		if (numbers->item[i] == number)
			return 0;
	error = xb_array_grow(&numbers->item, &numbers->room, numbers->count + 1, sizeof(number));
	if (!error)
		numbers->item[numbers->count++] = number;
	return error;
}

/* gateway and via may be NULL; a hop that is on the link itself has neither. */
static int add_hop(struct search *search, int family, uint32_t ifindex,
		   const struct nlattr *gateway, const struct nlattr *via)
{
	const struct xb_device *device = xb_device_chosen(search->devices, ifindex);
	const void *bytes = NULL;
	struct xb_entry entry;
	size_t size = 0;

	if (gateway) {
		bytes = mnl_attr_get_payload(gateway);
		size = mnl_attr_get_payload_len(gateway);
	} else if (via && mnl_attr_get_payload_len(via) > sizeof(struct rtvia)) {
		const struct rtvia *other = mnl_attr_get_payload(via);

		family = other->rtvia_family;
		bytes = other->rtvia_addr;
		size = mnl_attr_get_payload_len(via) - sizeof(*other);
	}
	if (!device || size < (family == AF_INET ? 4 : 16) ||
	    !xb_address_from_bytes(family, bytes, &entry))
		return 0;
	return xb_lifelines_add(search->out, &entry, XB_LIFELINE_GATEWAY, XB_WHY_GATEWAY,
				device->name);
}

static int add_multipath(struct search *search, int family, const struct nlattr *paths)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(paths);
	int left = mnl_attr_get_payload_len(paths), error = 0;

	/* RTNH_OK() reads the length first. */
	while (!error && left >= (int)sizeof(*hop) && RTNH_OK(hop, left)) {
		const struct nlattr *attribute = (const void *)RTNH_DATA(hop);
		const struct nlattr *gateway = NULL, *via = NULL;
		int bytes = hop->rtnh_len - (int)sizeof(*hop);

		for (; mnl_attr_ok(attribute, bytes); attribute = mnl_attr_next(attribute)) {
			bytes -= (int)MNL_ALIGN(attribute->nla_len);
			if (mnl_attr_get_type(attribute) == RTA_GATEWAY)
				gateway = attribute;
			else if (mnl_attr_get_type(attribute) == RTA_VIA)
				via = attribute;
		}
		error = add_hop(search, family, (uint32_t)hop->rtnh_ifindex, gateway, via);
		left -= (int)RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return error;
}

static int add_default(struct search *search, const struct rtmsg *route,
		       const struct nlattr **attribute)
{
	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST)
		return 0;
	if (attribute[RTA_MULTIPATH])
		return add_multipath(search, route->rtm_family, attribute[RTA_MULTIPATH]);
	/* With net.ipv4.nexthop_compat_mode=0 the object's number is all there is. */
	if (attribute[RTA_NH_ID] && !attribute[RTA_GATEWAY] && !attribute[RTA_VIA])
		return note(&search->nexthops, xb_netlink_u32(attribute[RTA_NH_ID]));
	return add_hop(search, route->rtm_family, xb_netlink_u32(attribute[RTA_OIF]),
		       attribute[RTA_GATEWAY], attribute[RTA_VIA]);
}

static int on_route4(const struct nlmsghdr *message, void *search)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[RTA_MAX + 1];

	xb_netlink_attributes(message, sizeof(*route), attribute, RTA_MAX);
	/* The kernel walks its trie in the order of addresses: behind 0.0.0.0 no default follows.
	 */
	if (xb_netlink_u32(attribute[RTA_DST]))
		return 1;
	return add_default(search, route, attribute);
}

static int on_route6(const struct nlmsghdr *message, void *search)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[RTA_MAX + 1];

	if (route->rtm_dst_len || route->rtm_family != AF_INET6)
		return 0;
	xb_netlink_attributes(message, sizeof(*route), attribute, RTA_MAX);
	return add_default(search, route, attribute);
}

/* A dump narrowed by one attribute. What the kernel does not have holds no route. */
static int search_routes(struct search *search, uint8_t family, uint16_t type, uint32_t value)
{
	struct xb_netlink_request request;
	struct rtmsg *route;
	int error;

	route = xb_netlink_begin(&request, RTM_GETROUTE, NLM_F_DUMP, sizeof(*route));
	route->rtm_family = family;
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, type, value);
	error = xb_netlink_ask(&request, family == AF_INET ? on_route4 : on_route6, search);
	return error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP ? 0 : error;
}

static int on_rule(const struct nlmsghdr *message, void *context)
{
	const struct fib_rule_hdr *rule = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[FRA_MAX + 1];
	struct search *search = context;
	uint32_t table;

	xb_netlink_attributes(message, sizeof(*rule), attribute, FRA_MAX);
	table = attribute[FRA_TABLE] ? xb_netlink_u32(attribute[FRA_TABLE]) : rule->table;
	return rule->action == FR_ACT_TO_TBL && table ? note(&search->tables, table) : 0;
}

static int find_tables(struct search *search)
{
	struct xb_netlink_request request;
	struct fib_rule_hdr *rule;
	int error = note(&search->tables, RT_TABLE_MAIN);

	if (error)
		return error;
	rule = xb_netlink_begin(&request, RTM_GETRULE, NLM_F_DUMP, sizeof(*rule));
	rule->family = AF_INET;
	error = xb_netlink_ask(&request, on_rule, search);
	return error == -EOPNOTSUPP ? 0 : error; /* a kernel without policy routing */
}

static int on_nexthop(const struct nlmsghdr *message, void *context)
{
	const struct nhmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[NHA_MAX + 1];
	struct search *search = context;
	const struct nexthop_grp *group;
	size_t members;
	int error = 0;

	xb_netlink_attributes(message, sizeof(*header), attribute, NHA_MAX);
	if (!attribute[NHA_GROUP])
		return add_hop(search, header->nh_family, xb_netlink_u32(attribute[NHA_OIF]),
			       attribute[NHA_GATEWAY], NULL);
	group = mnl_attr_get_payload(attribute[NHA_GROUP]);
	members = mnl_attr_get_payload_len(attribute[NHA_GROUP]) / sizeof(*group);
	for (size_t i = 0; !error && i < members; i++)
		error = note(&search->nexthops, group[i].id);
	return error;
}

static int resolve_nexthop(struct search *search, uint32_t id)
{
	struct xb_netlink_request request;
	int error;

	xb_netlink_begin(&request, RTM_GETNEXTHOP, 0, sizeof(struct nhmsg));
	mnl_attr_put_u32((struct nlmsghdr *)request.bytes, NHA_ID, id);
	error = xb_netlink_ask(&request, on_nexthop, search);
	return error == -ENOENT ? 0 : error; /* gone meanwhile */
}

int xb_gateways_find(const struct xb_devices *devices, struct xb_lifelines *out)
{
	struct search search = {.devices = devices, .out = out};
	int error = find_tables(&search);

	for (size_t i = 0; !error && i < devices->count; i++) {
		if (!devices->item[i].chosen)
			continue;
		error = search_routes(&search, AF_INET6, RTA_OIF, devices->item[i].index);
		if (!error && devices->item[i].vrf_table)
			error = note(&search.tables, devices->item[i].vrf_table);
	}
	for (size_t i = 0; !error && i < search.tables.count; i++)
		error = search_routes(&search, AF_INET, RTA_TABLE, search.tables.item[i]);
	/* Groups add their members at the end while we go. */
	for (size_t i = 0; !error && i < search.nexthops.count; i++)
		error = resolve_nexthop(&search, search.nexthops.item[i]);
	free(search.tables.item);
	free(search.nexthops.item);
	return error;
}
