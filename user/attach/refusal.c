/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's sentences and numbers, and what surely follows from them. */
#include "attach/refusal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/mtu.h"
#include "base/error.h"
#include "base/ifname.h"
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

/* virtio-net of Linux 6.1 lets no program come or go while a frame may not fit into a page. */
int xb_refusal_stays(uint32_t ifindex, int error, const char *sentence)
{
	char name[IF_NAMESIZE] = "";

	xb_ifname(ifindex, name);
	xb_system_error(0, "%s: the kernel does not take the program off at MTU %d (%s)", name,
			xb_mtu_get(name), sentence[0] ? sentence : strerror(error));
	return XB_STAYS_ON;
}

int xb_refusal_featureless(const struct xb_netdev *device)
{
	return xb_system_error(0, "%s: the driver has no native XDP at present, says the kernel%s",
			       device->name, xb_advice(XB_ADVICE_MODE_SKB_OR_AUTO));
}

static bool says(const struct xb_refusal *refusal, const char *words)
{
	return strcasestr(refusal->sentence, words);
}

static bool is_of_mtu(const struct xb_refusal *refusal)
{
	return refusal->error == ERANGE || says(refusal, "MTU");
}

static bool is_of_queues(const struct xb_refusal *refusal)
{
	return refusal->error == ENOSPC || says(refusal, "queue") || says(refusal, "TX ring");
}

static bool is_of_lro(const struct xb_refusal *refusal)
{
	if (refusal->error != EOPNOTSUPP && refusal->error != EINVAL)
		return false;
	return (!refusal->sentence[0] || says(refusal, "LRO")) && has_lro(refusal->name);
}

#define CURE_BYTES 256

/* What makes this mode possible; "": nobody can tell. */
static void find_cure(const struct xb_refusal *refusal, char cure[CURE_BYTES])
{
	const char *name = refusal->name;

	cure[0] = '\0';
	if (refusal->mode == XB_MODE_SKB)
		return;
	if (is_of_mtu(refusal) && says(refusal, "peer"))
		snprintf(cure, CURE_BYTES, "; lower the MTU of its peer");
	else if (is_of_mtu(refusal))
		snprintf(cure, CURE_BYTES,
			 "; its MTU is %d, lower it (ip link set dev %s mtu 1500)",
			 xb_mtu_get(name), name);
	else if (is_of_queues(refusal) && !strcmp(refusal->kind, "veth"))
		snprintf(cure, CURE_BYTES,
			 "; it needs as many rx queues as its peer has tx queues (ethtool -L)");
	else if (is_of_queues(refusal))
		snprintf(cure, CURE_BYTES,
			 "; XDP needs queues of its own, so use fewer channels (ethtool -L %s "
			 "combined N)",
			 name);
	else if (is_of_lro(refusal))
		snprintf(cure, CURE_BYTES,
			 "; XDP and LRO exclude each other: ethtool -K %s lro off", name);
}

/* Of another mode, where the user asked for this one and the driver is in the way. */
static const char *find_advice(const struct xb_refusal *refusal, bool has_cure)
{
	if (refusal->wanted != XB_MODE_NATIVE || refusal->mode != XB_MODE_NATIVE)
		return "";
	if (has_cure)
		return xb_advice(XB_ADVICE_MODE_SKB);
	return refusal->sentence[0] || refusal->error == EOPNOTSUPP || refusal->error == EINVAL
		       ? xb_advice(XB_ADVICE_MODE_SKB_OR_AUTO)
		       : "";
}

static int explain_mode(const struct xb_refusal *refusal)
{
	/* Who left the choice to us asked for no mode that has a name. */
	bool named = refusal->mode == XB_MODE_SKB || refusal->wanted == refusal->mode;
	const char *words = refusal->mode == XB_MODE_SKB ? "skb mode"
			    : named			 ? "native mode"
							 : "its driver";
	char cure[CURE_BYTES];

	find_cure(refusal, cure);
	if (refusal->sentence[0])
		return xb_system_error(0, "%s: the kernel refused %s%s: \"%s\" (%s)%s%s",
				       refusal->name, named ? "" : "XDP in ", words,
				       refusal->sentence, strerror(refusal->error), cure,
				       find_advice(refusal, cure[0]));
	return xb_system_error(0, "%s: cannot attach in %s (%s)%s%s", refusal->name, words,
			       strerror(refusal->error), cure, find_advice(refusal, cure[0]));
}

static bool is_held(const struct xb_refusal *refusal)
{
	if (refusal->error != EBUSY && refusal->error != EEXIST)
		return false;
	return !refusal->sentence[0] || says(refusal, "already attached") ||
	       says(refusal, "active");
}

int xb_refusal_explain(const struct xb_refusal *refusal)
{
	const char *name = refusal->name, *sentence = refusal->sentence;

	if (refusal->error == ENODEV && !sentence[0])
		return xb_system_error(0, "%s: the interface is gone", name);
	if (is_held(refusal))
		return xb_system_error(
			0, "%s: another XDP program holds the interface; take it off first%s%s%s",
			name, sentence[0] ? " (the kernel: \"" : "", sentence,
			sentence[0] ? "\")" : "");
	if (refusal->error == EPERM && !sentence[0])
		return xb_system_error(
			refusal->error,
			"%s: cannot attach (root, or CAP_BPF and CAP_NET_ADMIN, and for libxdp's "
			"dispatcher CAP_SYS_ADMIN, is needed)",
			name);
	return explain_mode(refusal);
}
