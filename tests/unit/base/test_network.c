/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces, rtnetlink and network namespaces, in a namespace of its own: names and numbers;
 * attributes of messages that are short, damaged or twice there, and how a conversation with the
 * kernel ends; which namespaces are the same, how to enter one, and which are gone. */
#include <linux/rtnetlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/ifname.h"
#include "base/netlink.h"
#include "base/netns.h"
#include "support/child.h"
#include "support/cmocka.h"

static void rename_first(const char *from, const char *to)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};

	assert_true(fd >= 0);
	memcpy(request.ifr_name, from, strlen(from));
	memcpy(request.ifr_newname, to, strlen(to));
	assert_int_equal(ioctl(fd, SIOCSIFNAME, &request), 0);
	close(fd);
}

static void is_number(const char *name, uint32_t expected)
{
	uint32_t ifindex = 77;

	if (xb_ifindex(name, &ifindex))
		fail_msg("'%s': %s", name, xb_error_message());
	if (ifindex != expected)
		fail_msg("'%s' is %u", name, ifindex);
}

TEST(one_that_is_there)
{
	char name[IF_NAMESIZE] = "before";

	is_number("lo", 1);
	assert_int_equal(xb_ifname(1, name), 0);
	assert_string_equal(name, "lo");
}

TEST(the_longest_name)
{
	char name[IF_NAMESIZE];

	rename_first("lo", "a23456789abcdef");
	is_number("a23456789abcdef", 1);
	/* The kernel would cut it, and find that one. */
	is_number("a23456789abcdefg", 0);
	is_number("a23456789abcde", 0);
	assert_int_equal(xb_ifname(1, name), 0);
	assert_string_equal(name, "a23456789abcdef");
	rename_first("a23456789abcdef", "lo");
}

/* The kernel cuts labels of addresses, "lo:1", at the colon: they are no interfaces. */
TEST(labels_are_no_names)
{
	is_number("lo:1", 0);
	is_number("lo:", 0);
	is_number(":", 0);
	is_number(":lo", 0);
}

TEST(names_of_nothing)
{
	char longest[300];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	is_number("", 0);
	is_number("l", 0);
	is_number("lo ", 0);
	is_number("LO", 0);
	is_number("../lo", 0);
	is_number("lo%d", 0);
	is_number("\xff\xfe", 0);
	is_number(longest, 0);
}

TEST(numbers_of_nothing)
{
	static const uint32_t numbers[] = {0,	      2, 12345, INT32_MAX, (uint32_t)INT32_MAX + 1,
					   UINT32_MAX};
	char name[IF_NAMESIZE];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		memset(name, 'x', sizeof(name));
		assert_int_equal(xb_ifname(numbers[i], name), 0);
		assert_string_equal(name, "");
	}
}

TEST(no_descriptor_is_no_answer)
{
	struct rlimit before, closed;
	char name[IF_NAMESIZE] = "before", message[256];
	uint32_t ifindex = 77;
	int by_name, by_number;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	closed = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &closed), 0);
	xb_error_clear();
	by_name = xb_ifindex("lo", &ifindex);
	snprintf(message, sizeof(message), "%s", xb_error_message());
	by_number = xb_ifname(1, name);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(by_name, -EMFILE);
	assert_non_null(strstr(message, "lo: cannot look for the interface"));
	assert_int_equal(by_number, -EMFILE);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_int_equal(ifindex, 0);
	assert_string_equal(name, "");
}

#define MOST 3

TEST(requests_begin_empty)
{
	struct xb_netlink_request made;
	struct nlmsghdr *header = (void *)made.bytes;
	struct ifinfomsg *link;

	memset(&made, 0xa5, sizeof(made));
	link = xb_netlink_begin(&made, RTM_GETLINK, NLM_F_DUMP, sizeof(*link));
	assert_ptr_equal(link, made.bytes + NLMSG_HDRLEN);
	assert_int_equal(header->nlmsg_type, RTM_GETLINK);
	assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_int_equal(header->nlmsg_len, NLMSG_HDRLEN + sizeof(*link));
	for (size_t i = NLMSG_HDRLEN; i < sizeof(made.bytes); i++)
		assert_int_equal(made.bytes[i], 0);
}

static struct xb_netlink_request request;
static struct nlmsghdr *message = (void *)request.bytes;
static const struct nlattr stale, *table[MOST + 2];

static int begin_message(void **state)
{
	xb_netlink_begin(&request, RTM_NEWLINK, 0, sizeof(struct ifinfomsg));
	return 0;
}

/* Into a table that had others. */
static void read_attributes(struct nlmsghdr *from)
{
	for (int i = 0; i <= MOST + 1; i++)
		table[i] = &stale;
	xb_netlink_attributes(from, sizeof(struct ifinfomsg), table, MOST);
	assert_ptr_equal(table[MOST + 1], &stale);
}

static void read_nested(const struct nlattr *outer)
{
	for (int i = 0; i <= MOST; i++)
		table[i] = &stale;
	xb_netlink_nested(outer, table, MOST);
}

TEST(attributes_by_type)
{
	mnl_attr_put_u32(message, 1, 11);
	mnl_attr_put_u32(message, MOST, 33);
	mnl_attr_put_u32(message, MOST + 1, 44);
	mnl_attr_put_u32(message, NLA_F_NESTED | 2, 22);
	mnl_attr_put_u32(message, 1, 12);
	read_attributes(message);
	assert_null(table[0]);
	assert_int_equal(xb_netlink_u32(table[1]), 12); /* the last one counts */
	assert_int_equal(xb_netlink_u32(table[2]), 22);
	assert_int_equal(xb_netlink_u32(table[3]), 33);
}

TEST(messages_without_attributes)
{
	for (uint32_t size = NLMSG_HDRLEN; size <= NLMSG_HDRLEN + sizeof(struct ifinfomsg);
	     size++) {
		message->nlmsg_len = size; /* a header that is cut short, too */
		read_attributes(message);
		for (int i = 0; i <= MOST; i++)
			assert_null(table[i]);
	}
}

/* In memory of its own: the sanitizer sees any byte that is read behind the message. Whole words,
 * to which libmnl rounds the length up, as the kernel does. */
TEST(attributes_that_are_cut)
{
	uint32_t first;

	mnl_attr_put_u32(message, 1, 11);
	first = message->nlmsg_len;
	mnl_attr_put_u32(message, 2, 22);
	for (uint32_t size = first; size < message->nlmsg_len; size += NLMSG_ALIGNTO) {
		struct nlmsghdr *part = malloc(size);

		assert_non_null(part);
		memcpy(part, message, size);
		part->nlmsg_len = size;
		read_attributes(part);
		assert_int_equal(xb_netlink_u32(table[1]), 11);
		assert_null(table[2]);
		free(part);
	}
}

TEST(lengths_that_lie)
{
	static const uint16_t lengths[] = {0, 1, 3, 5 + 4 + 4, 0xffff};
	struct nlattr *attribute = mnl_nlmsg_get_payload_tail(message);

	mnl_attr_put_u32(message, 1, 11);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		attribute->nla_len = lengths[i];
		read_attributes(message);
		assert_null(table[1]);
	}
}

TEST(nested_ones)
{
	struct nlattr *outer = mnl_attr_nest_start(message, 9);

	mnl_attr_put_u32(message, 1, 111);
	mnl_attr_put_u32(message, MOST + 1, 4);
	mnl_attr_nest_end(message, outer);
	mnl_attr_put_u32(message, 2, 22); /* behind the nest */
	read_nested(outer);
	assert_null(table[0]);
	assert_int_equal(xb_netlink_u32(table[1]), 111);
	assert_null(table[2]);
	read_nested(NULL);
	for (int i = 0; i <= MOST; i++)
		assert_null(table[i]);
	outer->nla_len = NLA_HDRLEN;
	read_nested(outer);
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

static int see(const struct nlmsghdr *answer, void *context)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(answer);
	struct seen *seen = context;

	seen->answers++;
	seen->index = link->ifi_index;
	return seen->result;
}

static int ask_link(int32_t index, uint16_t flags, struct seen *seen)
{
	struct xb_netlink_request asked;
	struct ifinfomsg *link = xb_netlink_begin(&asked, RTM_GETLINK, flags, sizeof(*link));

	link->ifi_index = index;
	xb_error_clear();
	return xb_netlink_ask(&asked, see, seen);
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

#define EXAMPLE "nsenter --net=/run/netns/NAME"

static const char *const name = "xbt'name";

/* Alone, with mounts of its own. */
static int begin(void **state)
{
	return unshare(CLONE_NEWNET) || own_mounts() ||
	       mount("xbt", "/run", "tmpfs", 0, "mode=0755") || mkdir("/run/netns", 0755);
}

/* A child in a namespace of its own, until it is killed. */
static struct child another(struct xb_netns *netns)
{
	struct child child = child_begin();

	if (!child.pid) {
		if (unshare(CLONE_NEWNET))
			_exit(1);
		*netns = xb_netns_self();
		child_tell(&child, netns, sizeof(*netns));
		pause();
	}
	assert_true(child_told(&child, netns, sizeof(*netns)));
	return child;
}

TEST(the_same_and_others)
{
	struct xb_netns self = xb_netns_self(), again = xb_netns_self(), other;
	struct child child = another(&other);

	assert_true(self.cookie != 0 && self.inode != 0);
	assert_true(xb_netns_same(&self, &again));
	assert_false(xb_netns_same(&self, &other));
	assert_false(xb_netns_same(&other, &self));
	assert_false(xb_netns_is_initial(&other));
	child_end(&child, SIGKILL);
	/* By the cookie alone: an inode may be used again. */
	other.inode = self.inode;
	assert_false(xb_netns_same(&self, &other));
	again.inode++;
	assert_true(xb_netns_same(&self, &again));
	/* What cannot be determined is not held against it. */
	other.cookie = 0;
	assert_true(xb_netns_same(&self, &other));
	assert_true(xb_netns_same(&other, &self));
}

TEST(the_initial_one)
{
	const struct xb_netns first = {1, 77}, numbered = {77, 0xEFFFFFF9U}, none = {0, 0};

	assert_true(xb_netns_is_initial(&first));
	assert_true(xb_netns_is_initial(&numbered));
	assert_false(xb_netns_is_initial(&none));
}

TEST(no_name_is_an_example)
{
	struct xb_netns none = {0}, other;
	char text[XB_NETNS_ENTER];
	struct child child = another(&other);

	assert_false(xb_netns_enter(&none, text));
	assert_string_equal(text, EXAMPLE);
	assert_false(xb_netns_enter(&other, text));
	assert_string_equal(text, EXAMPLE);
	child_end(&child, SIGKILL);
}

static void bind_name(const struct child *child, const char *path)
{
	char source[64];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
	snprintf(source, sizeof(source), "/proc/%d/ns/net", (int)child->pid);
	assert_int_equal(mount(source, path, "none", MS_BIND, NULL), 0);
}

TEST(a_named_one_is_entered)
{
	char path[300], text[XB_NETNS_ENTER], expected[XB_NETNS_ENTER], longest[256];
	struct xb_netns other, former, unknown;
	struct child child = another(&other);

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	bind_name(&child, path);
	assert_true(xb_netns_enter(&other, text));
	snprintf(expected, sizeof(expected), "nsenter --net=%s", path);
	assert_string_equal(text, expected);
	child_end(&child, SIGKILL);
	/* The name keeps it. */
	assert_false(xb_netns_is_gone(&other));
	assert_true(xb_netns_enter(&other, text));
	unknown = former = other;
	/* Another one had its inode before. */
	former.cookie++;
	assert_false(xb_netns_enter(&former, text));
	assert_string_equal(text, EXAMPLE);
	assert_true(xb_netns_is_gone(&former));
	unknown.cookie = 0;
	assert_true(xb_netns_enter(&unknown, text));
	assert_false(xb_netns_is_gone(&unknown));
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_false(xb_netns_enter(&other, text));
	assert_true(xb_netns_is_gone(&other));

	child = another(&other);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	snprintf(path, sizeof(path), "/run/netns/%s", longest);
	bind_name(&child, path);
	assert_true(xb_netns_enter(&other, text));
	assert_int_equal(strlen(text), strlen("nsenter --net=") + strlen(path));
	child_end(&child, SIGKILL);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

TEST(gone_with_its_last_process)
{
	struct xb_netns other, self = xb_netns_self(), unknown = {0};
	struct child child = another(&other);
	struct xb_netns former = {other.cookie + 1, other.inode};

	assert_false(xb_netns_is_gone(&other));
	assert_true(xb_netns_is_gone(&former));
	child_end(&child, SIGKILL);
	assert_true(xb_netns_is_gone(&other));
	assert_false(xb_netns_is_gone(&self));
	assert_false(xb_netns_is_gone(&unknown));
	/* Ours has its inode by now. */
	other.inode = self.inode;
	assert_true(xb_netns_is_gone(&other));
	self.cookie = 0;
	assert_false(xb_netns_is_gone(&self));
}

EACH_TEST(begin_message, NULL);
ALL_TESTS(begin, NULL);
