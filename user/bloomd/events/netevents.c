/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel sends a message of a link for many reasons, some of them our own attaching. So what
 * matters of each link is kept, and compared with what the next message says. */
#include "bloomd/events/netevents.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <zlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/netlink.h"
#include "bloomd/base/log.h"

#define MESSAGE_BYTES 32768
#define AT_ONCE	      64 /* messages, before the loop goes on */

struct link {
	uint32_t ifindex, digest;
};

struct netevents {
	struct mnl_socket *socket;
	sd_event_source *source;
	netevents_changed *changed;
	void *context;
	struct link *links;
	size_t count, room;
	bool news; /* in the messages that are being read */
	_Alignas(struct nlmsghdr) char bytes[MESSAGE_BYTES];
};

static struct link *find(struct netevents *events, uint32_t ifindex)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->links[i].ifindex == ifindex)
			return &events->links[i];
	return NULL;
}

static uint32_t add_attribute(uint32_t digest, const struct nlattr *attribute)
{
	if (!attribute)
		return digest;
	return (uint32_t)crc32(digest, mnl_attr_get_payload(attribute),
			       mnl_attr_get_payload_len(attribute));
}

/* Its name, whether it is up, on what it is stacked, its MTU, and the XDP programs on it. */
static uint32_t digest_of(const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute[IFLA_XDP + 1];
	unsigned int up = info->ifi_flags & IFF_UP;
	uint32_t digest = (uint32_t)crc32(0, (const void *)&up, sizeof(up));

	xb_netlink_attributes(message, sizeof(*info), attribute, IFLA_XDP);
	digest = add_attribute(digest, attribute[IFLA_IFNAME]);
	digest = add_attribute(digest, attribute[IFLA_MASTER]);
	digest = add_attribute(digest, attribute[IFLA_LINK]);
	digest = add_attribute(digest, attribute[IFLA_MTU]);
	return add_attribute(digest, attribute[IFLA_XDP]);
}

/* Without memory, each message is news. */
static bool is_new_link(struct netevents *events, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	uint32_t digest = digest_of(message), ifindex = (uint32_t)info->ifi_index;
	struct link *link = find(events, ifindex);

	if (info->ifi_family != AF_UNSPEC)
		return false; /* a bridge tells of a port */
	if (link && link->digest == digest)
		return false;
	if (!link && !xb_array_grow(&events->links, &events->room, events->count + 1,
				    sizeof(*events->links)))
		link = &events->links[events->count++];
	if (link)
		*link = (struct link){ifindex, digest};
	return true;
}

static void forget_link(struct netevents *events, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct link *link = find(events, (uint32_t)info->ifi_index);

	if (link)
		*link = events->links[--events->count];
}

static bool is_default_route(const struct nlmsghdr *message)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);

	return !route->rtm_dst_len;
}

static bool is_news(struct netevents *events, const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct rtgenmsg))
		return false;
	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
		return is_new_link(events, message);
	case RTM_DELLINK:
		if (info->ifi_family == AF_UNSPEC)
			forget_link(events, message);
		return info->ifi_family == AF_UNSPEC;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return is_default_route(message);
	default:
		return true;
	}
}

static int on_message(const struct nlmsghdr *message, void *context)
{
	struct netevents *events = context;

	events->news |= is_news(events, message);
	return MNL_CB_OK;
}

/* What the kernel could not tell may have been anything. */
static int lose(struct netevents *events)
{
	events->count = 0;
	events->news = true;
	return 0;
}

/* 1: there may be more. */
static int read_one(struct netevents *events)
{
	ssize_t size = mnl_socket_recvfrom(events->socket, events->bytes, sizeof(events->bytes));

	if (size < 0 && (errno == ENOBUFS || errno == ENOSPC))
		return lose(events) + 1;
	if (size < 0)
		return errno == EINTR ? 1 : errno == EAGAIN ? 0 : -errno;
	mnl_cb_run(events->bytes, (size_t)size, 0, 0, on_message, events);
	return 1;
}

static int on_readable(sd_event_source *source, int fd, uint32_t happened, void *context)
{
	struct netevents *events = context;
	int result = 1;

	(void)source;
	(void)fd;
	(void)happened;
	events->news = false;
	for (int i = 0; i < AT_ONCE && result > 0; i++)
		result = read_one(events);
	if (events->news)
		events->changed(events->context);
	if (result < 0) {
		xb_system_error(-result, "cannot read what rtnetlink tells");
		log_error("interfaces that change are not noticed any more");
		sd_event_source_set_enabled(events->source, SD_EVENT_OFF);
	}
	return 0;
}

/* Linux 5.2 and older know no next hop objects. */
static int join(struct mnl_socket *socket)
{
	static const int groups[] = {
		RTNLGRP_LINK,	    RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
		RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,	 RTNLGRP_IPV6_RULE,   RTNLGRP_NEXTHOP,
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		int group = groups[i];

		if (mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) <
			    0 &&
		    group != RTNLGRP_NEXTHOP)
			return -1;
	}
	return 0;
}

int netevents_start(sd_event *loop, netevents_changed *changed, void *context,
		    struct netevents **out)
{
	struct netevents *events = calloc(1, sizeof(*events));
	int error;

	*out = events;
	if (!events)
		return xb_out_of_memory();
	events->changed = changed;
	events->context = context;
	events->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!events->socket || mnl_socket_bind(events->socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    join(events->socket))
		return xb_system_error(errno, "cannot listen to rtnetlink");
	error = sd_event_add_io(loop, &events->source, mnl_socket_get_fd(events->socket), EPOLLIN,
				on_readable, events);
	return error < 0 ? xb_system_error(-error, "cannot listen to rtnetlink") : 0;
}

void netevents_stop(struct netevents *events)
{
	if (!events)
		return;
	sd_event_source_disable_unref(events->source);
	if (events->socket)
		mnl_socket_close(events->socket);
	free(events->links);
	free(events);
}
