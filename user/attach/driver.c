/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/driver.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/procfile.h"
#include "base/program.h"

#define VIRTIO_FEATURES_BYTES 160 /* a character a bit; Linux 6.17 has 128 */

/* include/uapi/linux/virtio_net.h */
#define VIRTIO_NET_F_MTU	3
#define VIRTIO_NET_F_GUEST_TSO4 7
#define VIRTIO_NET_F_GUEST_TSO6 8
#define VIRTIO_NET_F_GUEST_ECN	9
#define VIRTIO_NET_F_GUEST_UFO	10
#define VIRTIO_NET_F_MRG_RXBUF	15
#define VIRTIO_NET_F_GUEST_USO4 54
#define VIRTIO_NET_F_GUEST_USO6 55

#define MTU_USUAL 1500

static bool read_attribute(const struct xb_driver_place *place, const struct xb_netdev *device,
			   const char *name, char *text, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class/net/%s/%s", place->sysfs, device->name, name);
	return xb_procfile_read(path, text, size) > 0;
}

/* Of the device itself: sysfs may be that of another network namespace. */
static bool read_virtio_features(const struct xb_driver_place *place,
				 const struct xb_netdev *device, char bits[VIRTIO_FEATURES_BYTES])
{
	char number[24];

	memset(bits, 0, VIRTIO_FEATURES_BYTES);
	return read_attribute(place, device, "ifindex", number, sizeof(number)) &&
	       strtoul(number, NULL, 10) == device->ifindex &&
	       read_attribute(place, device, "device/features", bits, VIRTIO_FEATURES_BYTES);
}

/* As virtnet_check_guest_gso() and virtnet_set_big_packets(). */
static bool has_big_packets(const char *bits, const struct xb_netdev *device)
{
	return bits[VIRTIO_NET_F_GUEST_TSO4] == '1' || bits[VIRTIO_NET_F_GUEST_TSO6] == '1' ||
	       bits[VIRTIO_NET_F_GUEST_ECN] == '1' || bits[VIRTIO_NET_F_GUEST_UFO] == '1' ||
	       (bits[VIRTIO_NET_F_GUEST_USO4] == '1' && bits[VIRTIO_NET_F_GUEST_USO6] == '1') ||
	       (bits[VIRTIO_NET_F_MTU] == '1' && device->mtu > MTU_USUAL);
}

static const char *advise(enum xb_mode asked, enum xb_advice advice)
{
	return asked == XB_MODE_NATIVE ? xb_advice(advice) : "";
}

static int check_big_packets(const struct xb_driver_place *place, const struct xb_netdev *device,
			     enum xb_mode asked)
{
	char bits[VIRTIO_FEATURES_BYTES];

	if (!read_virtio_features(place, device, bits) || bits[VIRTIO_NET_F_MRG_RXBUF] != '0' ||
	    !has_big_packets(bits, device))
		return 0;
	return xb_system_error(
		0,
		"%s: virtio_net never calls a native program on this card, whose host has turned "
		"merged buffers off (mrg_rxbuf) and large packets on (guest_tso4 and others); turn "
		"one of them round on the host%s",
		device->name, advise(asked, XB_ADVICE_MODE_SKB));
}

/* What a page has room for beside 256 bytes in front of a frame, its 14 bytes of Ethernet header,
 * 12 of virtio's, and struct skb_shared_info with 320: 3494 where a page has 4096. */
static unsigned int largest_mtu(const struct xb_driver_place *place)
{
	return place->page - 602;
}

static int check_mtu(const struct xb_driver_place *place, const struct xb_netdev *device,
		     enum xb_mode asked)
{
	if (device->mtu <= largest_mtu(place))
		return 0;
	return xb_system_error(0,
			       "%s: virtio_net before Linux 6.3 loses frames in native mode above "
			       "MTU %u, and the MTU is %u; lower it (ip link set dev %s mtu "
			       "1500)%s",
			       device->name, largest_mtu(place), device->mtu, device->name,
			       advise(asked, XB_ADVICE_MODE_SKB));
}

static int check_bond(const struct xb_driver_place *place, const struct xb_netdev *device,
		      enum xb_mode asked)
{
	(void)place;
	return xb_system_error(0,
			       "%s: the program of a bond in native mode is called for its members "
			       "by their own numbers, so statistics and trials would not hold; "
			       "filter its members%s",
			       device->name, advise(asked, XB_ADVICE_MODE_SKB));
}

enum {
	FORGETS = 1,	/* the program, when the device is opened anew */
	DROPS_LINK = 2, /* with each change of the program */
};

static const struct quirk {
	const char *driver;	    /* as ethtool -i says, or a kind of device */
	unsigned int since, before; /* kernels; before 0: none is known that does better */
	int (*check)(const struct xb_driver_place *place, const struct xb_netdev *device,
		     enum xb_mode asked);
	int does;
} known[] = {
	/* receive_big() in drivers/net/virtio_net.c runs no program, and virtnet_xdp_set() does not
	 * look for it. Seen on 6.1.192, 6.12.118 and 6.18.15. */
	{"virtio_net", .check = check_big_packets},
	/* xdp_linearize_page() drops what does not fit into a page, and virtnet_xdp_set() allows up
	 * to PAGE_SIZE - sizeof(struct padded_vnet_hdr), 4064. Frames in several buffers came with
	 * 6.3 ("virtio-net: support multi-buffer xdp"). Seen on 6.1.192. */
	{"virtio_net", .before = XB_KERNEL(6, 3), .check = check_mtu},
	/* bond_xdp_set() hands the program to each member, and xdp->rxq->dev is the member. */
	{"bond", .check = check_bond},
	/* Native XDP came with 6.6. Seen on 6.12.118 and 6.18.15. */
	{"vmxnet3", .since = XB_KERNEL(6, 6), .does = FORGETS},
	/* igb_xdp_setup() closes and opens the device. Seen on 6.1.192, 6.12.118 and 6.18.15. */
	{"igb", .does = DROPS_LINK},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool applies(const struct quirk *quirk, const struct xb_driver_place *place,
		    const char *driver)
{
	return !strcmp(quirk->driver, driver) && place->kernel >= quirk->since &&
	       (!quirk->before || place->kernel < quirk->before);
}

int xb_driver_check_at(const struct xb_driver_place *place, const char *driver,
		       const struct xb_netdev *device, enum xb_mode asked)
{
	int error = 0;

	for (size_t i = 0; !error && i < KNOWN && asked != XB_MODE_SKB; i++)
		if (known[i].check && applies(&known[i], place, driver))
			error = known[i].check(place, device, asked);
	return error;
}

static bool does(const struct xb_driver_place *place, const char *driver, int what)
{
	for (size_t i = 0; i < KNOWN; i++)
		if ((known[i].does & what) && applies(&known[i], place, driver))
			return true;
	return false;
}

bool xb_driver_forgets_at(const struct xb_driver_place *place, const char *driver)
{
	return does(place, driver, FORGETS);
}

static struct xb_driver_place here(void)
{
	static struct xb_driver_place place; /* the same for every interface */
	unsigned int version, patchlevel;
	struct utsname system;

	if (place.page)
		return place;
	place.sysfs = "/sys";
	place.page = (unsigned int)getpagesize();
	if (!uname(&system) && sscanf(system.release, "%u.%u", &version, &patchlevel) == 2)
		place.kernel = XB_KERNEL(version, patchlevel);
	return place;
}

/* A device that software makes is known by its kind. */
static void read_driver(const struct xb_netdev *device, char driver[32])
{
	struct ethtool_drvinfo about = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {.ifr_data = (void *)&about};
	int fd;

	snprintf(driver, 32, "%s", device->kind);
	if (driver[0])
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device->name);
	if (!ioctl(fd, SIOCETHTOOL, &request))
		snprintf(driver, 32, "%.31s", about.driver);
	close(fd);
}

int xb_driver_check(const struct xb_netdev *device, enum xb_mode asked)
{
	struct xb_driver_place place = here();
	char driver[32];

	if (asked == XB_MODE_SKB)
		return 0;
	read_driver(device, driver);
	return xb_driver_check_at(&place, driver, device, asked);
}

bool xb_driver_forgets(const struct xb_netdev *device)
{
	struct xb_driver_place place = here();
	char driver[32];

	read_driver(device, driver);
	return xb_driver_forgets_at(&place, driver);
}

void xb_driver_announce(const struct xb_netdev *device)
{
	struct xb_driver_place place = here();
	char driver[32];

	read_driver(device, driver);
	if (does(&place, driver, DROPS_LINK))
		xb_notice("%s: %s takes the link away for some seconds with each change of its "
			  "program",
			  device->name, driver);
}
