/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One flavour each: a bpf_link of our own, or a component of libxdp's dispatcher. */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dispatcher.h"
#include "error.h"
#include "ifname.h"
#include "medium.h"
#include "pin.h"

#define LINK_PREFIX "iface-"

struct link_pin {
	char name[32];
};

static struct link_pin pin_of(uint32_t ifindex)
{
	struct link_pin pin;

	snprintf(pin.name, sizeof(pin.name), LINK_PREFIX "%u", ifindex);
	return pin;
}

/* The interface a bpf_link is on (0: it is gone) and its program. */
static int link_info(int fd, uint32_t *ifindex, uint32_t *program)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return xb_system_error(errno, "cannot ask the kernel about an attached program");
	*ifindex = info.xdp.ifindex;
	*program = info.prog_id;
	return 0;
}

static enum xb_mode mode_of(int attach_mode)
{
	return attach_mode == XDP_ATTACHED_SKB ? XB_MODE_SKB : XB_MODE_NATIVE;
}

static int query(uint32_t ifindex, struct xb_attachment *attachment)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, options);
	int error = bpf_xdp_query((int)ifindex, 0, &options);

	if (error)
		return xb_system_error(-error, "cannot ask the kernel what is attached");
	attachment->mode = mode_of(options.attach_mode);
	attachment->program = options.prog_id;
	return 0;
}

/* Whether our pinned bpf_link is on the interface, with our entry: 1 or 0, or an error. */
static int link_is_on(const struct xb_link *link, uint32_t ifindex)
{
	uint32_t on = 0, program = 0;
	int fd = xb_pin_open(link->pins, pin_of(ifindex).name), error;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	error = link_info(fd, &on, &program);
	close(fd);
	return error ? error : on == ifindex && program == xb_program_id(link->entry);
}

int xb_is_attached(const struct xb_link *link, const char *name)
{
	struct xb_attachment now;
	uint32_t ifindex;
	int error;

	if (link->flavour == XB_FLAVOUR_DISPATCHER) {
		error = xb_attachment_of(link, name, &now);
		return error ? error : now.ours;
	}
	error = xb_link_ifindex(link, name, &ifindex);
	return error || !ifindex ? error : link_is_on(link, ifindex);
}

int xb_attachment_of(const struct xb_link *link, const char *name, struct xb_attachment *attachment)
{
	int error;

	*attachment = (struct xb_attachment){0};
	error = xb_link_ifindex(link, name, &attachment->ifindex);
	if (!error && attachment->ifindex)
		error = query(attachment->ifindex, attachment);
	if (error || !attachment->program || !link)
		return error;
	error = link->flavour == XB_FLAVOUR_DISPATCHER
			? xb_dispatcher_has(link, attachment->ifindex)
			: link_is_on(link, attachment->ifindex);
	attachment->ours = error > 0;
	return error < 0 ? error : 0;
}

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

static int held_by_other(const char *name, const struct xb_attachment *attachment)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(attachment->program);

	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &size);
		close(fd);
	}
	return xb_system_error(
		0,
		"%s: another XDP program holds the interface (%s, id %u); detach it first: "
		"ip link set dev %s xdp off, or with the tool that attached it",
		name, info.name[0] ? info.name : "no name", attachment->program, name);
}

/* What a driver's refusal of native XDP means to the person. */
static int explain(const char *name, enum xb_mode mode, int error)
{
	switch (error) {
	case EBUSY:
	case EEXIST:
		return xb_system_error(
			0, "%s: another XDP program holds the interface; detach it first", name);
	case EPERM:
		return xb_system_error(
			error,
			"%s: cannot attach (root, or CAP_BPF and CAP_NET_ADMIN, and for libxdp's "
			"dispatcher CAP_SYS_ADMIN, is needed)",
			name);
	case ERANGE:
		return xb_system_error(0,
				       "%s: the driver has no XDP at MTU %d; lower it (ip link set "
				       "dev %s mtu 1500) or use --mode skb",
				       name, device_mtu(name), name);
	case ENOSPC:
	case ENOMEM:
		return xb_system_error(
			0,
			"%s: the driver has no queues left for XDP; use fewer channels (ethtool -L "
			"%s combined N; on "
			"veth, as many rx queues as the peer has tx queues) or use --mode skb",
			name, name);
	case EOPNOTSUPP:
	case EINVAL:
		if (has_lro(name))
			return xb_system_error(0,
					       "%s: XDP and LRO exclude each other; turn it off: "
					       "ethtool -K %s lro off",
					       name, name);
		if (mode == XB_MODE_NATIVE)
			return xb_system_error(
				0, "%s: the driver has no native XDP (%s); use --mode auto or skb",
				name, strerror(error));
		break;
	default:
		break;
	}
	return xb_system_error(error, "%s: cannot attach", name);
}

/* Attaches in exactly this mode; returns a negative errno without a message. */
static int attach_link(const struct xb_link *link, uint32_t ifindex, enum xb_mode mode)
{
	LIBBPF_OPTS(bpf_link_create_opts, options,
		    .flags = mode == XB_MODE_SKB ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	int fd = bpf_link_create(link->entry, (int)ifindex, BPF_XDP, &options), error;

	if (fd < 0)
		return -errno;
	error = xb_pin(fd, link->pins, pin_of(ifindex).name);
	close(fd);
	return error;
}

static int attach_mode(const struct xb_link *link, uint32_t ifindex, enum xb_mode mode)
{
	return link->flavour == XB_FLAVOUR_DISPATCHER ? xb_dispatcher_attach(link, ifindex, mode)
						      : attach_link(link, ifindex, mode);
}

/* A pinned bpf_link left by an earlier link of ours takes the new entry without a gap. */
static int take_over(const struct xb_link *link, uint32_t ifindex)
{
	struct link_pin pin = pin_of(ifindex);
	uint32_t on = 0, program = 0;
	int fd = xb_pin_open(link->pins, pin.name), error;

	if (fd < 0)
		return fd;
	error = link_info(fd, &on, &program);
	if (!error && on == ifindex)
		error = bpf_link_update(fd, link->entry, NULL) ? -errno : 0;
	else
		error = -ENOENT;
	close(fd);
	if (error)
		xb_unpin(link->pins, pin.name);
	return error ? -ENOENT : 0;
}

/* Out of descriptors, the other mode is no way either; the rest is no matter of the mode. */
static bool other_mode_may_do(int error)
{
	return error != -EBUSY && error != -EEXIST && error != -EPERM && error != -EMFILE &&
	       error != -ENFILE;
}

static int refuse_other(const struct xb_link *link, const char *name, enum xb_mode mode,
			const struct xb_attachment *now)
{
	int joins;

	if (!now->program)
		return 0;
	joins = link->flavour == XB_FLAVOUR_DISPATCHER ? xb_dispatcher_joins(now->ifindex) : 0;
	if (joins <= 0)
		return joins ? joins : held_by_other(name, now);
	if (mode == now->mode)
		return 0;
	return xb_system_error(0,
			       "%s: other XDP programs are there in %s mode, and all of an "
			       "interface have the same; use --mode auto or %s",
			       name, xb_mode_name(now->mode), xb_mode_name(now->mode));
}

int xb_attach(const struct xb_link *link, const char *name, enum xb_mode wanted, enum xb_mode *mode)
{
	enum xb_mode first = wanted == XB_MODE_SKB ? XB_MODE_SKB : XB_MODE_NATIVE;
	struct xb_attachment now;
	int error = xb_attachment_of(link, name, &now);

	if (error)
		return error;
	if (!now.ifindex)
		return xb_input_error("%s: no such interface", name);
	error = xb_medium_check(now.ifindex, name);
	if (error)
		return error;
	error = xb_link_enrol(link, now.ifindex, name);
	if (error)
		return error;
	*mode = now.mode;
	if (now.ours || (link->flavour == XB_FLAVOUR_LINK && !take_over(link, now.ifindex)))
		return 0;
	if (wanted == XB_MODE_AUTO && now.program)
		first = now.mode;
	error = refuse_other(link, name, first, &now);
	if (error)
		goto fail;
	*mode = first;
	error = attach_mode(link, now.ifindex, first);
	if (error && wanted == XB_MODE_AUTO && other_mode_may_do(error)) {
		explain(name, XB_MODE_NATIVE, -error);
		xb_notice("warning: %s; %s is protected in skb mode, which is slower",
			  xb_error_message(), name);
		*mode = XB_MODE_SKB;
		error = attach_mode(link, now.ifindex, XB_MODE_SKB);
	}
	if (!error)
		return 0;
	error = explain(name, *mode, -error);
fail:
	xb_link_dismiss(link, now.ifindex);
	return error;
}

/* Unpinning alone would detach some time later. */
static void detach_link(const struct xb_link *link, uint32_t ifindex)
{
	struct link_pin pin = pin_of(ifindex);
	int fd = xb_pin_open(link->pins, pin.name);

	if (fd < 0)
		return;
	bpf_link_detach(fd);
	close(fd);
	xb_unpin(link->pins, pin.name);
}

static int detach_index(const struct xb_link *link, uint32_t ifindex)
{
	int error = 0;

	if (link->flavour == XB_FLAVOUR_DISPATCHER)
		error = xb_dispatcher_detach(link, ifindex);
	else
		detach_link(link, ifindex);
	return error ? error : xb_link_dismiss(link, ifindex);
}

int xb_detach_allowed(const struct xb_link *link)
{
	return link->flavour == XB_FLAVOUR_DISPATCHER ? xb_dispatcher_allowed() : 0;
}

int xb_detach(const struct xb_link *link, const char *name)
{
	uint32_t ifindex;
	int error = xb_link_ifindex(link, name, &ifindex);

	return error || !ifindex ? error : detach_index(link, ifindex);
}

int xb_detach_unwanted(const struct xb_link *link, const struct xb_wanted *wanted, size_t count)
{
	struct xb_enrolled *all;
	size_t enrolled;
	int error = xb_link_enrolled(link, &all, &enrolled);

	for (size_t i = 0; !error && i < enrolled; i++) {
		char now[IF_NAMESIZE];
		bool keep = false;

		for (size_t j = 0; j < count; j++)
			keep |= !strcmp(wanted[j].name, all[i].name);
		error = xb_ifname(all[i].ifindex, now);
		if (!error && (!keep || !now[0]))
			error = detach_index(link, all[i].ifindex);
	}
	free(all);
	return error;
}

/* Own links are replaced in place, so their pins say which still have a former entry. */
static int detach_former_links(const struct xb_link *link, const char *pins)
{
	uint32_t entry = link ? xb_program_id(link->entry) : 0;
	DIR *listing = opendir(pins);
	struct dirent *item;
	int error = 0;

	while (listing && !error && (item = readdir(listing))) {
		uint32_t ifindex, program = 0;
		int fd;

		if (strncmp(item->d_name, LINK_PREFIX, strlen(LINK_PREFIX)) != 0)
			continue;
		fd = xb_pin_open(pins, item->d_name);
		error = fd < 0 ? fd : link_info(fd, &ifindex, &program);
		if (!error && program != entry) {
			bpf_link_detach(fd);
			xb_unpin(pins, item->d_name);
		}
		if (fd >= 0)
			close(fd);
	}
	if (listing)
		closedir(listing);
	return error;
}

int xb_detach_former(const struct xb_link *link, const struct xb_link *former)
{
	struct if_nameindex *all;
	int error = 0;

	if (former->flavour == XB_FLAVOUR_LINK)
		return detach_former_links(link, former->pins);
	all = if_nameindex();
	if (!all)
		return xb_system_error(errno, "cannot list the interfaces");
	for (size_t i = 0; !error && all[i].if_index; i++)
		error = xb_dispatcher_detach(former, all[i].if_index);
	if_freenameindex(all);
	return error;
}
