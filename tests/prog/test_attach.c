/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces attached, changed and left by calls of attach/ alone: the offloads that go and come
 * back, and native mode where the driver is known to do wrong in it. */
#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sched.h>

#include "attach/attach.h"
#include "attach/features.h"
#include "attach/offload.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/rig.h"

static struct rig rig;
static struct xb_anchor anchor;
static bool on, refuses; /* rx-gro-hw of v0, and what turns it on */
static char warned[1024];
static int warnings;

static struct xb_netdev look(void)
{
	struct xb_netdev device;

	assert_int_equal(xb_netdev_by_name("v0", &device), 0);
	assert_int_not_equal(device.ifindex, 0);
	return device;
}

/* v0 as a card with one feature, rx-gro-hw, that a program in skb mode turns off for good. */
static int answer(const char *name, void *command)
{
	struct ethtool_sset_info *info = command;
	struct ethtool_gstrings *strings = command;
	struct ethtool_gfeatures *features = command;
	struct xb_netdev now = look();

	assert_string_equal(name, "v0");
	on &= !now.program || now.mode != XB_MODE_SKB;
	switch (info->cmd) {
	case ETHTOOL_GSSET_INFO:
		info->data[0] = 1;
		return 0;
	case ETHTOOL_GSTRINGS:
		strcpy((char *)strings->data, "rx-gro-hw");
		return 0;
	case ETHTOOL_GFEATURES:
		features->features[0].active = on;
		return 0;
	default:
		on |= !refuses;
		return 0;
	}
}

static void note(enum xb_notice_kind kind, const char *message)
{
	if (kind != XB_WARNING)
		return;
	snprintf(warned, sizeof(warned), "%s", message);
	warnings++;
}

static int begin(void **state)
{
	if (unshare(CLONE_NEWNET))
		return 1;
	rig_begin(&rig, "attach");
	if (system("ip link add v0 type veth peer name v1"))
		return 1;
	rig_must(xb_anchor_open(rig.paths.pins, &anchor), "no anchor");
	xb_notice_sink(note);
	xb_features_ask(answer);
	return 0;
}

static int end(void **state)
{
	xb_features_ask(NULL);
	xb_anchor_close(&anchor);
	rig_end(&rig);
	return 0;
}

static int begin_one(void **state)
{
	on = true;
	refuses = false;
	warnings = 0;
	return 0;
}

static void attach(enum xb_mode wanted)
{
	struct xb_netdev device = look();
	enum xb_mode mode;

	rig_must(xb_attach(&anchor, &device, wanted, &mode), "not attached");
}

static void change(enum xb_mode mode)
{
	struct xb_netdev device = look();
	uint64_t open;

	rig_must(xb_change_mode(&anchor, &device, mode, &open), "not changed");
	assert_int_equal(look().mode, mode);
}

TEST(offloads_come_back_with_detach)
{
	attach(XB_MODE_SKB);
	assert_int_equal(xb_offloads_on("v0"), 0);
	rig_must(xb_detach(&anchor, look().ifindex), "not detached");
	assert_int_equal(xb_offloads_on("v0"), XB_OFFLOAD_GRO_HW);
	attach(XB_MODE_SKB);
	assert_int_equal(xb_offloads_on("v0"), 0);
	rig_must(xb_detach_all(&anchor), "not detached");
	assert_int_equal(xb_offloads_on("v0"), XB_OFFLOAD_GRO_HW);
	rig_must(xb_anchor_dismiss(&anchor, look().ifindex), "not dismissed");
	assert_int_equal(warnings, 0);
}

TEST(offloads_come_back_with_native_mode)
{
	attach(XB_MODE_NATIVE);
	change(XB_MODE_SKB);
	assert_int_equal(xb_offloads_on("v0"), 0);
	change(XB_MODE_NATIVE);
	assert_int_equal(xb_offloads_on("v0"), XB_OFFLOAD_GRO_HW);
	change(XB_MODE_SKB);
	/* While there is a program, some cards refuse. */
	refuses = true;
	change(XB_MODE_NATIVE);
	assert_int_equal(xb_offloads_on("v0"), 0);
	assert_int_equal(warnings, 0);
	refuses = false;
	rig_must(xb_detach(&anchor, look().ifindex), "not detached");
	assert_int_equal(xb_offloads_on("v0"), XB_OFFLOAD_GRO_HW);
}

TEST(one_that_does_not_come_back_is_told)
{
	attach(XB_MODE_SKB);
	refuses = true;
	rig_must(xb_detach(&anchor, look().ifindex), "not detached");
	assert_int_equal(look().program, 0);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warned, "v0: attaching turned rx-gro-hw off"));
}

/* Nobody here has the hardware: v0 says that it is a bond. */
TEST(native_mode_of_a_driver_that_does_wrong)
{
	struct xb_netdev device = look();
	enum xb_mode mode;
	uint64_t open;
	bool left;

	strcpy(device.kind, "bond");
	assert_int_equal(xb_attach(&anchor, &device, XB_MODE_NATIVE, &mode), -EIO);
	assert_non_null(strstr(xb_error_message(), "v0: the program of a bond in native mode"));
	assert_int_equal(look().program, 0);
	assert_false(xb_anchor_is_enrolled(&anchor, device.ifindex));
	rig_must(xb_attach(&anchor, &device, XB_MODE_AUTO, &mode), "not attached");
	assert_int_equal(mode, XB_MODE_SKB);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warned, "; v0 is protected in skb mode, which is slower"));
	device = look();
	strcpy(device.kind, "bond");
	assert_int_equal(xb_change_mode(&anchor, &device, XB_MODE_NATIVE, &open), -EIO);
	assert_int_equal(open, 0);
	assert_int_equal(look().mode, XB_MODE_SKB);
	rig_must(xb_leave_native(&anchor, &device, &left, &open), "not left");
	assert_false(left);
	rig_must(xb_detach(&anchor, device.ifindex), "not detached");
}

TEST(native_mode_that_is_left)
{
	struct xb_netdev device;
	uint64_t open;
	bool left;

	attach(XB_MODE_NATIVE);
	device = look();
	rig_must(xb_leave_native(&anchor, &device, &left, &open), "not left");
	assert_false(left);
	strcpy(device.kind, "bond");
	rig_must(xb_leave_native(&anchor, &device, &left, &open), "not left");
	assert_true(left);
	assert_true(open > 0);
	assert_int_equal(look().mode, XB_MODE_SKB);
	assert_int_equal(warnings, 1);
	rig_must(xb_detach(&anchor, device.ifindex), "not detached");
}

EACH_TEST(begin_one, NULL);
ALL_TESTS(begin, end);
