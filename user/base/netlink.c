/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket a question, by libmnl. */
#include "base/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define TRIES	     10
#define ANSWER_BYTES 32768 /* the kernel makes no larger pieces of a dump */

struct answers {
	xb_netlink_each *each;
	void *context;
	int error;
};

void *xb_netlink_begin(struct xb_netlink_request *request, uint16_t type, uint16_t flags,
		       size_t size)
{
	struct nlmsghdr *header;

	memset(request, 0, sizeof(*request));
	header = mnl_nlmsg_put_header(request->bytes);
	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(header, size);
}

static int on_message(const struct nlmsghdr *message, void *context)
{
	struct answers *answers = context;
	int result = answers->each(message, answers->context);

	if (result < 0) {
		answers->error = result;
		return MNL_CB_ERROR;
	}
	return result ? MNL_CB_STOP : MNL_CB_OK;
}

static struct mnl_socket *open_strict(int bus)
{
	struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
	int on = 1;

	if (!socket)
		return NULL;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(socket, NETLINK_GET_STRICT_CHK, &on, sizeof(on)) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

/* A socket of its own: one that was left in the middle of a dump is busy. */
static int ask_once(int bus, const struct nlmsghdr *request, struct answers *answers)
{
	char *answer = malloc(ANSWER_BYTES);
	struct mnl_socket *socket = answer ? open_strict(bus) : NULL;
	int result = MNL_CB_OK, errnum = errno;

	if (!socket) {
		free(answer);
		return -errnum;
	}
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		result = MNL_CB_ERROR;
	while (result > MNL_CB_STOP) {
		ssize_t size = mnl_socket_recvfrom(socket, answer, ANSWER_BYTES);

		result = size < 0 ? MNL_CB_ERROR
				  : mnl_cb_run(answer, (size_t)size, 0,
					       mnl_socket_get_portid(socket), on_message, answers);
	}
	errnum = errno;
	mnl_socket_close(socket);
	free(answer);
	return result < 0 ? -errnum : 0;
}

static int ask(int bus, struct xb_netlink_request *request, xb_netlink_each *each, void *context)
{
	struct answers answers = {.each = each, .context = context};
	struct nlmsghdr *header = (struct nlmsghdr *)request->bytes;
	int error = -EINTR;

	if (!(header->nlmsg_flags & NLM_F_DUMP))
		header->nlmsg_flags |= NLM_F_ACK;
	for (int i = 0; i < TRIES && error == -EINTR; i++) {
		error = ask_once(bus, header, &answers);
		if (answers.error)
			return answers.error;
	}
	if (!error || error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP)
		return error;
	return xb_system_error(-error, "cannot ask the kernel about interfaces and routes");
}

int xb_netlink_ask(struct xb_netlink_request *request, xb_netlink_each *each, void *context)
{
	return ask(NETLINK_ROUTE, request, each, context);
}

int xb_netlink_ask_generic(struct xb_netlink_request *request, xb_netlink_each *each, void *context)
{
	return ask(NETLINK_GENERIC, request, each, context);
}

struct table {
	const struct nlattr **slots;
	uint16_t most;
};

static int keep_attribute(const struct nlattr *attribute, void *context)
{
	const struct table *table = context;
	uint16_t type = mnl_attr_get_type(attribute);

	if (type <= table->most)
		table->slots[type] = attribute;
	return MNL_CB_OK;
}

static void clear(const struct nlattr **table, uint16_t most)
{
	for (unsigned int i = 0; i <= most; i++)
		table[i] = NULL;
}

void xb_netlink_attributes(const struct nlmsghdr *message, size_t header_size,
			   const struct nlattr **table, uint16_t most)
{
	struct table context = {table, most};

	clear(table, most);
	if (mnl_nlmsg_get_payload_len(message) > header_size)
		mnl_attr_parse(message, (unsigned int)header_size, keep_attribute, &context);
}

void xb_netlink_nested(const struct nlattr *outer, const struct nlattr **table, uint16_t most)
{
	struct table context = {table, most};

	clear(table, most);
	if (outer)
		mnl_attr_parse_nested(outer, keep_attribute, &context);
}

uint32_t xb_netlink_u32(const struct nlattr *attribute)
{
	return attribute && mnl_attr_get_payload_len(attribute) >= 4 ? mnl_attr_get_u32(attribute)
								     : 0;
}
