/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of interfaces, with the kernel as the measure; names of modes. */
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "model/interface.h"
#include "support/cmocka.h"

static int kernel = -1;
static char current[IF_NAMESIZE] = "lo";

static int alone(void **state)
{
	if (unshare(CLONE_NEWNET))
		return -1;
	kernel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return kernel < 0;
}

static int done(void **state)
{
	return close(kernel);
}

/* Whether an interface can have exactly this name. */
static bool kernel_takes(const char *name)
{
	struct ifreq request = {0};

	if (strlen(name) >= IF_NAMESIZE)
		return false;
	memcpy(request.ifr_name, current, sizeof(current));
	memcpy(request.ifr_newname, name, strlen(name));
	if (ioctl(kernel, SIOCSIFNAME, &request))
		return false;
	request = (struct ifreq){.ifr_ifindex = 1};
	assert_int_equal(ioctl(kernel, SIOCGIFNAME, &request), 0);
	memcpy(current, request.ifr_name, sizeof(current));
	return !strcmp(current, name);
}

static bool is_text(const char *name)
{
	size_t size = strlen(name);

	while (size) {
		size_t bytes = xb_utf8_character(name, size);

		if (!bytes || xb_utf8_is_control(name, size))
			return false;
		name += bytes;
		size -= bytes;
	}
	return true;
}

static bool takes(const char *name)
{
	int error;

	xb_error_clear();
	error = xb_wanted_check(name);
	assert_true(!error || error == -EINVAL);
	assert_int_equal(xb_error_class(), error ? XB_ERROR_INPUT : XB_ERROR_NONE);
	if (error)
		assert_non_null(strstr(xb_error_message(), "is not a valid interface name"));
	return !error;
}

static void as_the_kernel(const char *name)
{
	bool expected = kernel_takes(name) && is_text(name);

	if (takes(name) != expected)
		fail_msg("'%s' is %s", name, expected ? "refused" : "taken");
}

TEST(every_byte)
{
	for (int byte = 1; byte < 256; byte++) {
		const char single[] = {(char)byte, '\0'}, within[] = {'a', (char)byte, 'b', '\0'};

		as_the_kernel(single);
		as_the_kernel(within);
	}
}

/* The kernel takes the byte a0 for a blank, in the middle of a character too. */
TEST(every_character_of_two_bytes)
{
	for (int lead = 0xc2; lead < 0xe0; lead++)
		for (int byte = 0x80; byte < 0xc0; byte++) {
			const char name[] = {'x', (char)lead, (char)byte, '\0'};

			as_the_kernel(name);
		}
	assert_true(takes("b\xc3\xbcro"));
	assert_false(takes("voil\xc3\xa0"));
}

/* Between blanks. */
TEST(peculiar_names)
{
	char names[] = ". .. ... .a - --help 0 1234 eth0:1 eth0.100 eth0@if2 eth%d %d % %% 50% "
		       "a%db %d%d %s \" \\ a\xe2\x80\xaex \xe2\x82\xac \xf0\x9f\x98\x80 "
		       "\xe2\x80\xa0 a23456789abcdef a23456789abcdefg "
		       "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac "
		       "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xacx";
	char *rest = names, *name;

	as_the_kernel("");
	while ((name = strsep(&rest, " ")))
		as_the_kernel(name);
	assert_true(takes("a23456789abcdef"));
	assert_false(takes("a23456789abcdefg"));
}

TEST(modes)
{
	static const char *const none[] = {"",	    "AUTO",	"auto ",  " auto",
					   "nativ", "natively", "generic"};
	enum xb_mode mode;

	for (enum xb_mode each = XB_MODE_AUTO; each <= XB_MODE_SKB; each++) {
		mode = 77;
		assert_int_equal(xb_mode_parse(xb_mode_name(each), &mode), 0);
		assert_int_equal(mode, each);
	}
	assert_string_equal(xb_mode_name(XB_MODE_AUTO), "auto");
	assert_string_equal(xb_mode_name(XB_MODE_NATIVE), "native");
	assert_string_equal(xb_mode_name(XB_MODE_SKB), "skb");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		xb_error_clear();
		assert_true(xb_mode_parse(none[i], &mode) < 0);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
}

ALL_TESTS(alone, done);
