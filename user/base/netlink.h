/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the kernel over rtnetlink: one request, its answers one by one. */
#ifndef XB_BASE_NETLINK_H
#define XB_BASE_NETLINK_H

#include <libmnl/libmnl.h>
#include <stddef.h>

/* Room for a request, aligned for its header. */
struct xb_netlink_request {
	_Alignas(struct nlmsghdr) char bytes[256];
};

/* Starts a request; the header that follows it, `size` bytes all zero, is returned. */
void *xb_netlink_begin(struct xb_netlink_request *request, uint16_t type, uint16_t flags,
		       size_t size);

/* Returns 0 to go on, 1 to end early, or an error with its message recorded. */
typedef int xb_netlink_each(const struct nlmsghdr *message, void *context);

/*
 * Sends the request with NETLINK_GET_STRICT_CHK (Linux 4.20 then applies filters in dumps) and
 * hands over the answers. It repeats a dump that the kernel calls inconsistent, so each() must
 * tolerate the same answer twice. -ENOENT, -ENODEV, -EOPNOTSUPP without a message: the kernel has
 * no such thing.
 */
int xb_netlink_ask(struct xb_netlink_request *request, xb_netlink_each *each, void *context);

/* The same to a family of generic netlink. */
int xb_netlink_ask_generic(struct xb_netlink_request *request, xb_netlink_each *each,
			   void *context);

/* Puts the attributes of a message, behind its header of header_size bytes, or of a nested
 * attribute into table[0..most] by type; absent ones are NULL. */
void xb_netlink_attributes(const struct nlmsghdr *message, size_t header_size,
			   const struct nlattr **table, uint16_t most);
void xb_netlink_nested(const struct nlattr *outer, const struct nlattr **table, uint16_t most);

/* The value of the attribute; 0 if it is absent or too short. */
uint32_t xb_netlink_u32(const struct nlattr *attribute);

#endif
