/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and answers of rtnetlink: attributes of messages that are short, damaged or twice there,
 * and how a conversation with the kernel ends. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/netlink.h"
#include "support/cmocka.h"

#define MOST 3

static int alone(void **state)
{
	return unshare(CLONE_NEWNET);
}

TEST(requests_begin_empty)
{
	struct xb_netlink_request request;
	struct nlmsghdr *header = (void *)request.bytes;
	struct ifinfomsg *link;

	memset(&request, 0xa5, sizeof(request));
	link = xb_netlink_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(*link));
	assert_ptr_equal(link, request.bytes + NLMSG_HDRLEN);
	assert_int_equal(header->nlmsg_type, RTM_GETLINK);
	assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_int_equal(header->nlmsg_len, NLMSG_HDRLEN + sizeof(*link));
	for (size_t i = NLMSG_HDRLEN; i < sizeof(request.bytes); i++)
		assert_int_equal(request.bytes[i], 0);
}

static struct nlmsghdr *begin_message(struct xb_netlink_request *request)
{
	xb_netlink_begin(request, RTM_NEWLINK, 0, sizeof(struct ifinfomsg));
	return (void *)request->bytes;
}

static void dirty(const struct nlattr **table)
{
	static const struct nlattr none;

	for (int i = 0; i <= MOST; i++)
		table[i] = &none;
	table[MOST + 1] = &none;
}

TEST(attributes_by_type)
{
	struct xb_netlink_request request;
	struct nlmsghdr *message = begin_message(&request);
	const struct nlattr *table[MOST + 2], *behind;

	mnl_attr_put_u32(message, 1, 11);
	mnl_attr_put_u32(message, MOST, 33);
	mnl_attr_put_u32(message, MOST + 1, 44);
	mnl_attr_put_u32(message, NLA_F_NESTED | 2, 22);
	mnl_attr_put_u32(message, 1, 12);
	dirty(table);
	behind = table[MOST + 1];
	xb_netlink_attributes(message, sizeof(struct ifinfomsg), table, MOST);
	assert_null(table[0]);
	assert_int_equal(xb_netlink_u32(table[1]), 12); /* the last one counts */
	assert_int_equal(xb_netlink_u32(table[2]), 22);
	assert_int_equal(xb_netlink_u32(table[3]), 33);
	assert_ptr_equal(table[MOST + 1], behind);
}

TEST(messages_without_attributes)
{
	struct xb_netlink_request request;
	struct nlmsghdr *message = begin_message(&request);
	const struct nlattr *table[MOST + 2];

	for (uint32_t size = NLMSG_HDRLEN; size <= NLMSG_HDRLEN + sizeof(struct ifinfomsg);
	     size++) {
		message->nlmsg_len = size; /* a header that is cut short, too */
		dirty(table);
		xb_netlink_attributes(message, sizeof(struct ifinfomsg), table, MOST);
		for (int i = 0; i <= MOST; i++)
			assert_null(table[i]);
	}
}

/* In memory of its own: the sanitizer sees any byte that is read behind the message. Whole words,
 * to which libmnl rounds the length up, as the kernel does. */
TEST(attributes_that_are_cut)
{
	struct xb_netlink_request request;
	struct nlmsghdr *whole = begin_message(&request);
	uint32_t first;

	mnl_attr_put_u32(whole, 1, 11);
	first = whole->nlmsg_len;
	mnl_attr_put_u32(whole, 2, 22);
	for (uint32_t size = first; size < whole->nlmsg_len; size += NLMSG_ALIGNTO) {
		struct nlmsghdr *message = malloc(size);
		const struct nlattr *table[MOST + 2];

		assert_non_null(message);
		memcpy(message, whole, size);
		message->nlmsg_len = size;
		xb_netlink_attributes(message, sizeof(struct ifinfomsg), table, MOST);
		assert_int_equal(xb_netlink_u32(table[1]), 11);
		assert_null(table[2]);
		free(message);
	}
}

TEST(lengths_that_lie)
{
	static const uint16_t lengths[] = {0, 1, 3, 5 + 4 + 4, 0xffff};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct xb_netlink_request request;
		struct nlmsghdr *message = begin_message(&request);
		struct nlattr *attribute = mnl_nlmsg_get_payload_tail(message);
		const struct nlattr *table[MOST + 2];

		mnl_attr_put_u32(message, 1, 11);
		attribute->nla_len = lengths[i];
		xb_netlink_attributes(message, sizeof(struct ifinfomsg), table, MOST);
		assert_null(table[1]);
	}
}

TEST(nested_ones)
{
	struct xb_netlink_request request;
	struct nlmsghdr *message = begin_message(&request);
	const struct nlattr *table[MOST + 2];
	struct nlattr *outer;

	outer = mnl_attr_nest_start(message, 9);
	mnl_attr_put_u32(message, 1, 111);
	mnl_attr_put_u32(message, MOST + 1, 4);
	mnl_attr_nest_end(message, outer);
	mnl_attr_put_u32(message, 2, 22); /* behind the nest */
	dirty(table);
	xb_netlink_nested(outer, table, MOST);
	assert_null(table[0]);
	assert_int_equal(xb_netlink_u32(table[1]), 111);
	assert_null(table[2]);
	dirty(table);
	xb_netlink_nested(NULL, table, MOST);
	for (int i = 0; i <= MOST; i++)
		assert_null(table[i]);
	outer->nla_len = NLA_HDRLEN;
	xb_netlink_nested(outer, table, MOST);
	assert_null(table[1]);
}

TEST(numbers_that_are_too_short)
{
	struct {
		struct nlattr attribute;
		uint8_t bytes[8];
	} some = {.attribute = {.nla_type = 1}, .bytes = {1, 1, 1, 1, 2, 2, 2, 2}};

	assert_int_equal(xb_netlink_u32(NULL), 0);
	for (uint16_t size = 0; size < 4; size++) {
		some.attribute.nla_len = (uint16_t)(NLA_HDRLEN + size);
		assert_int_equal(xb_netlink_u32(&some.attribute), 0);
	}
	some.attribute.nla_len = NLA_HDRLEN + 4;
	assert_int_equal(xb_netlink_u32(&some.attribute), 0x01010101);
	some.attribute.nla_len = NLA_HDRLEN + 8;
	assert_int_equal(xb_netlink_u32(&some.attribute), 0x01010101);
}

struct seen {
	int answers, result;
	int32_t index;
};

static int see(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
	struct seen *seen = context;

	seen->answers++;
	seen->index = link->ifi_index;
	return seen->result;
}

static int ask_link(int32_t index, uint16_t flags, struct seen *seen)
{
	struct xb_netlink_request request;
	struct ifinfomsg *link = xb_netlink_begin(&request, RTM_GETLINK, flags, sizeof(*link));

	link->ifi_index = index;
	xb_error_clear();
	return xb_netlink_ask(&request, see, seen);
}

TEST(one_answer)
{
	struct seen seen = {0};

	assert_int_equal(ask_link(1, 0, &seen), 0);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.index, 1);
	seen = (struct seen){0};
	assert_int_equal(ask_link(0, NLM_F_DUMP, &seen), 0);
	assert_in_range(seen.answers, 1, 100);
}

TEST(what_there_is_not)
{
	struct seen seen = {0};

	assert_int_equal(ask_link(12345, 0, &seen), -ENODEV);
	assert_int_equal(seen.answers, 0);
	assert_string_equal(xb_error_message(), "");
}

TEST(what_the_kernel_refuses)
{
	struct xb_netlink_request request;
	struct seen seen = {0};

	xb_netlink_begin(&request, RTM_GETLINK, 0, 1); /* less than its header */
	assert_int_equal(xb_netlink_ask(&request, see, &seen), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_non_null(strstr(xb_error_message(), "cannot ask the kernel"));
	assert_int_equal(seen.answers, 0);
}

/* Errors of whoever reads are passed on: they are no errors of the kernel, to be asked again. */
TEST(the_reader_ends_it)
{
	static const int errors[] = {-EINTR, -ENODEV, -EIO, -1};
	struct seen seen;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		seen = (struct seen){.result = errors[i]};
		assert_int_equal(ask_link(0, NLM_F_DUMP, &seen), errors[i]);
		assert_int_equal(seen.answers, 1);
		assert_string_equal(xb_error_message(), "");
	}
	seen = (struct seen){.result = 1};
	assert_int_equal(ask_link(0, NLM_F_DUMP, &seen), 0);
	assert_int_equal(seen.answers, 1);
}

ALL_TESTS(alone, NULL);
