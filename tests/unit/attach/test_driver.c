/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drivers are known to do wrong, on machines that are not this one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/driver.h"
#include "base/error.h"
#include "base/program.h"
#include "support/cmocka.h"

#define IFINDEX 7

static char sysfs[] = "/tmp/test_driver-XXXXXX";

static const char *advice(enum xb_advice which)
{
	return which == XB_ADVICE_MODE_SKB ? " [skb]" : " [wrong advice]";
}

static void make_directory(const char *below)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", sysfs, below);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void write_attribute(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/net/eth0/%s", sysfs, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	xb_program_set("test", advice);
	assert_non_null(mkdtemp(sysfs));
	make_directory("/class");
	make_directory("/class/net");
	make_directory("/class/net/eth0");
	make_directory("/class/net/eth0/device");
	return 0;
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	return system(command);
}

/* As the kernel writes them: the bits that are listed, which end with -1. */
static void offer(const int *bits)
{
	char text[65];

	memset(text, '0', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (; *bits >= 0; bits++)
		text[*bits] = '1';
	write_attribute("device/features", text);
}

static int check_on(unsigned int kernel, unsigned int page, const char *driver, uint32_t mtu,
		    enum xb_mode asked)
{
	const struct xb_driver_place place = {.sysfs = sysfs, .kernel = kernel, .page = page};
	const struct xb_netdev device = {.ifindex = IFINDEX, .name = "eth0", .mtu = mtu};

	xb_error_clear();
	return xb_driver_check_at(&place, driver, &device, asked);
}

static int check(unsigned int kernel, const char *driver, uint32_t mtu)
{
	return check_on(kernel, 4096, driver, mtu, XB_MODE_NATIVE);
}

#define LINUX_6_1  XB_KERNEL(6, 1)
#define LINUX_6_18 XB_KERNEL(6, 18)

#define BITS(...) ((const int[]){__VA_ARGS__, -1})

TEST(buffers_that_no_program_sees)
{
	static const int large[] = {7, 8, 9, 10};

	write_attribute("ifindex", "7");
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		offer(BITS(0, 5, large[i], 17));
		assert_int_equal(check(LINUX_6_1, "virtio_net", 1500), -EIO);
		assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), -EIO);
		assert_int_equal(check(LINUX_6_18, "e1000", 1500), 0);
		offer(BITS(0, 5, large[i], 15, 17));
		assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
	}
	offer(BITS(0, 1, 5, 11, 12, 13, 14, 16));
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
	/* The host sets the MTU (host_mtu). */
	offer(BITS(0, 3, 5));
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
	assert_int_equal(check(LINUX_6_18, "virtio_net", 3000), -EIO);
	/* UDP needs both. */
	offer(BITS(54));
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
	offer(BITS(54, 55));
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), -EIO);
}

TEST(features_of_another_device)
{
	offer(BITS(7));
	write_attribute("ifindex", "70");
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
	write_attribute("ifindex", "7");
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), -EIO);
	write_attribute("device/features", "");
	assert_int_equal(check(LINUX_6_18, "virtio_net", 1500), 0);
}

TEST(mtu_at_which_frames_are_lost)
{
	offer(BITS(0, 7, 15));
	assert_int_equal(check(LINUX_6_1, "virtio_net", 3494), 0);
	assert_int_equal(check(LINUX_6_1, "virtio_net", 3495), -EIO);
	assert_string_equal(xb_error_message(),
			    "eth0: virtio_net before Linux 6.3 loses frames in native mode above "
			    "MTU 3494, and the MTU is 3495; lower it (ip link set dev eth0 mtu "
			    "1500) [skb]");
	assert_int_equal(check(XB_KERNEL(6, 2), "virtio_net", 9000), -EIO);
	assert_int_equal(check(XB_KERNEL(6, 3), "virtio_net", 9000), 0);
	assert_int_equal(check(LINUX_6_18, "virtio_net", 9000), 0);
	assert_int_equal(check_on(LINUX_6_1, 65536, "virtio_net", 9000, XB_MODE_NATIVE), 0);
	assert_int_equal(check(LINUX_6_1, "ena", 9000), 0);
}

TEST(bonds)
{
	assert_int_equal(check(LINUX_6_1, "bond", 1500), -EIO);
	assert_int_equal(check(LINUX_6_18, "bond", 1500), -EIO);
	assert_non_null(strstr(xb_error_message(), "filter its members [skb]"));
	assert_int_equal(check(LINUX_6_18, "team", 1500), 0);
	assert_int_equal(check(LINUX_6_18, "", 1500), 0);
}

TEST(other_modes)
{
	assert_int_equal(check_on(LINUX_6_1, 4096, "bond", 1500, XB_MODE_SKB), 0);
	/* Who leaves the choice to us needs no advice. */
	assert_int_equal(check_on(LINUX_6_1, 4096, "bond", 1500, XB_MODE_AUTO), -EIO);
	assert_null(strchr(xb_error_message(), '['));
	assert_int_equal(check_on(LINUX_6_1, 4096, "virtio_net", 9000, XB_MODE_AUTO), -EIO);
	assert_null(strchr(xb_error_message(), '['));
}

TEST(drivers_that_forget)
{
	const struct xb_driver_place former = {.sysfs = sysfs, .kernel = XB_KERNEL(6, 1)};
	const struct xb_driver_place present = {.sysfs = sysfs, .kernel = XB_KERNEL(6, 18)};

	assert_false(xb_driver_forgets_at(&former, "vmxnet3"));
	assert_true(xb_driver_forgets_at(&present, "vmxnet3"));
	assert_false(xb_driver_forgets_at(&present, "igb"));
	assert_false(xb_driver_forgets_at(&present, ""));
}

/* On this machine: nothing is known of it, and nothing is said. */
TEST(loopback)
{
	const struct xb_netdev device = {.ifindex = 1, .name = "lo", .mtu = 65536};

	xb_error_clear();
	assert_int_equal(xb_driver_check(&device, XB_MODE_NATIVE), 0);
	assert_false(xb_driver_forgets(&device));
	xb_driver_announce(&device);
	assert_string_equal(xb_error_message(), "");
}

ALL_TESTS(begin, end);
