/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sits on what: whether VLANs are above an interface, in made-up machines. */
#include "machine/devices.h"
#include "support/cmocka.h"

/* eth0 in bond0, on which is a VLAN; eth1 alone; eth2 in br0, and on eth2 a macvlan; a tunnel. */
enum { ETH0 = 2, ETH1, ETH2, BOND0, VLAN, BR0, MACVLAN, QINQ };

static struct xb_device machine[] = {
	{.index = QINQ, .lower = VLAN, .vlans = true},
	{.index = VLAN, .lower = BOND0, .vlans = true},
	{.index = ETH0, .master = BOND0},
	{.index = ETH1},
	{.index = ETH2, .master = BR0},
	{.index = BOND0},
	{.index = BR0},
	{.index = MACVLAN, .lower = ETH2},
};

static struct xb_devices devices = {.item = machine, .count = sizeof(machine) / sizeof(machine[0])};

TEST(vlans_at_any_height)
{
	assert_true(xb_devices_have_vlans(&devices));
	assert_true(xb_device_has_vlans_above(&devices, ETH0));
	assert_true(xb_device_has_vlans_above(&devices, BOND0));
	assert_true(xb_device_has_vlans_above(&devices, VLAN));
	assert_false(
		xb_device_has_vlans_above(&devices, QINQ)); /* it is one, and nothing is on it */
	assert_false(xb_device_has_vlans_above(&devices, ETH1));
	assert_false(xb_device_has_vlans_above(&devices, ETH2));
	assert_false(xb_device_has_vlans_above(&devices, 99));
}

TEST(a_bridge_that_goes_by_vlans)
{
	xb_device_find(&devices, BR0)->vlans = true;
	assert_true(xb_device_has_vlans_above(&devices, ETH2));
	assert_false(xb_device_has_vlans_above(&devices, MACVLAN));
	assert_false(xb_device_has_vlans_above(&devices, BR0));
	xb_device_find(&devices, BR0)->vlans = false;
}

/* Each question chooses anew. */
TEST(one_after_the_other)
{
	assert_true(xb_device_has_vlans_above(&devices, ETH0));
	assert_false(xb_device_has_vlans_above(&devices, ETH1));
	assert_null(xb_device_chosen(&devices, BOND0));
	assert_non_null(xb_device_chosen(&devices, ETH1));
}

TEST(none_at_all)
{
	struct xb_device bare = {.index = ETH1};
	struct xb_devices one = {.item = &bare, .count = 1};

	assert_false(xb_devices_have_vlans(&one));
	assert_false(xb_device_has_vlans_above(&one, ETH1));
}
