/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's numbers, and what may be behind them. */
#include "attach/refusal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"

static bool has_lro(const char *name)
{
	struct ethtool_value value = {.cmd = ETHTOOL_GFLAGS};
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool on;

	if (fd < 0)
		return false;
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	request.ifr_data = (void *)&value;
	on = !ioctl(fd, SIOCETHTOOL, &request) && (value.data & ETH_FLAG_LRO);
	close(fd);
	return on;
}

static int device_mtu(const char *name)
{
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), mtu = 0;

	if (fd < 0)
		return 0;
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		mtu = request.ifr_mtu;
	close(fd);
	return mtu;
}

#define OUR_PROGRAMS "xdp_bloom"

int xb_refusal_held(const struct xb_netdev *device)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(device->program);

	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &size);
		close(fd);
	}
	/* To take that off by hand would open a filter that somebody wants. */
	if (!strncmp(info.name, OUR_PROGRAMS, strlen(OUR_PROGRAMS)))
		return xb_system_error(
			0,
			"%s: another XDP program holds the interface (%s, id %u), xdp-bloom's own, "
			"of another pin directory or version: it goes on filtering%s",
			device->name, info.name, device->program,
			xb_advice(XB_ADVICE_DETACH_THERE));
	return xb_system_error(
		0,
		"%s: another XDP program holds the interface (%s, id %u); take it off first: "
		"ip link set dev %s xdp off, or with the tool that attached it",
		device->name, info.name[0] ? info.name : "no name", device->program, device->name);
}

int xb_refusal_explain(const char *name, enum xb_mode mode, int error)
{
	switch (error) {
	case ENODEV:
		return xb_system_error(0, "%s: the interface is gone", name);
	case EBUSY:
	case EEXIST:
		return xb_system_error(
			0, "%s: another XDP program holds the interface; take it off first", name);
	case EPERM:
		return xb_system_error(
			error,
			"%s: cannot attach (root, or CAP_BPF and CAP_NET_ADMIN, and for libxdp's "
			"dispatcher CAP_SYS_ADMIN, is needed)",
			name);
	case ERANGE:
		return xb_system_error(0,
				       "%s: the driver has no XDP at MTU %d; lower it (ip link set "
				       "dev %s mtu 1500)%s",
				       name, device_mtu(name), name, xb_advice(XB_ADVICE_MODE_SKB));
	case ENOSPC:
	case ENOMEM:
		return xb_system_error(
			0,
			"%s: the driver has no queues left for XDP; use fewer channels (ethtool -L "
			"%s combined N; on "
			"veth, as many rx queues as the peer has tx queues)%s",
			name, name, xb_advice(XB_ADVICE_MODE_SKB));
	case EOPNOTSUPP:
	case EINVAL:
		if (has_lro(name))
			return xb_system_error(0,
					       "%s: XDP and LRO exclude each other; turn it off: "
					       "ethtool -K %s lro off",
					       name, name);
		if (mode == XB_MODE_NATIVE)
			return xb_system_error(0, "%s: the driver has no native XDP (%s)%s", name,
					       strerror(error),
					       xb_advice(XB_ADVICE_MODE_SKB_OR_AUTO));
		break;
	default:
		break;
	}
	return xb_system_error(error, "%s: cannot attach", name);
}
