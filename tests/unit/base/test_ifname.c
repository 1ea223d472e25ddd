/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and numbers of interfaces, in a network namespace of its own: what there is, what there is
 * not, and what cannot be determined. */
#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/ifname.h"
#include "support/cmocka.h"

static int alone(void **state)
{
	return unshare(CLONE_NEWNET);
}

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
	struct rlimit before, none;
	char name[IF_NAMESIZE] = "before", message[256];
	uint32_t ifindex = 77;
	int by_name, by_number;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
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

ALL_TESTS(alone, NULL);
