/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pinned bpf_links: found by name, told apart by what the kernel says of them. */
#include "attach/ifpins.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/pin.h"
#include "attach/refusal.h"
#include "base/array.h"
#include "base/error.h"
#include "base/faultpoint.h"

#define PREFIX "iface-"
#define ASIDE  "iface-aside-" /* and the identity of the bpf_link */

static int info_of(int fd, struct bpf_link_info *info)
{
	uint32_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (bpf_obj_get_info_by_fd(fd, info, &size))
		return xb_system_error(errno, "cannot ask the kernel about an attached program");
	if (info->type != BPF_LINK_TYPE_XDP)
		return xb_system_error(0,
				       "the pin of an interface is not a bpf_link of this program");
	return 0;
}

static int read_pin(const char *pins, const char *name, struct xb_ifpin *pin)
{
	struct bpf_link_info info;
	int fd = xb_pin_open(pins, XB_PINS_TOP, name), error;

	*pin = (struct xb_ifpin){0};
	if (fd < 0)
		return fd;
	error = info_of(fd, &info);
	close(fd);
	if (error)
		return error;
	snprintf(pin->pin, sizeof(pin->pin), "%s", name);
	pin->of = (uint32_t)strtoul(name + strlen(PREFIX), NULL, 10);
	pin->ifindex = info.xdp.ifindex;
	pin->program = info.prog_id;
	return 0;
}

static int append(struct xb_ifpins *all, const struct xb_ifpin *pin)
{
	int error = xb_array_grow(&all->item, &all->room, all->count + 1, sizeof(*pin));

	if (!error)
		all->item[all->count++] = *pin;
	return error;
}

int xb_ifpins_read(const char *pins, struct xb_ifpins *all)
{
	DIR *listing = opendir(pins);
	struct dirent *item;
	int error = 0;

	*all = (struct xb_ifpins){0};
	if (!listing)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : xb_system_error(errno, "cannot read %s", pins);
	while (!error && (item = readdir(listing))) {
		struct xb_ifpin pin;

		if (strncmp(item->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    strlen(item->d_name) >= sizeof(pin.pin))
			continue;
		error = read_pin(pins, item->d_name, &pin);
		if (!error)
			error = append(all, &pin);
		else if (error == -ENOENT) /* taken off meanwhile */
			error = 0;
	}
	closedir(listing);
	return error;
}

void xb_ifpins_free(struct xb_ifpins *all)
{
	free(all->item);
	*all = (struct xb_ifpins){0};
}

const struct xb_ifpin *xb_ifpins_of(const struct xb_ifpins *all, uint32_t ifindex)
{
	for (size_t i = 0; i < all->count; i++)
		if (ifindex && all->item[i].of == ifindex)
			return &all->item[i];
	return NULL;
}

/* Prefer the device attached here under this ifindex to one that moved in with it. */
const struct xb_ifpin *xb_ifpins_on(const struct xb_ifpins *all, uint32_t ifindex, uint32_t program)
{
	const struct xb_ifpin *found = xb_ifpins_of(all, ifindex);

	if (!program || (found && found->ifindex == ifindex))
		return program ? found : NULL;
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].ifindex == ifindex && all->item[i].program == program)
			return &all->item[i];
	return NULL;
}

static void name_pin(uint32_t ifindex, char name[32])
{
	snprintf(name, 32, PREFIX "%u", ifindex);
}

static int create(int program, uint32_t ifindex, uint32_t mode)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode);
	int fd = bpf_link_create(program, (int)ifindex, BPF_XDP, &options);

	return fd < 0 ? -errno : fd;
}

/* A bpf_link is refused without a word. Who asks for the same by netlink hears the kernel's
 * sentence, or the kernel refuses no more and so grants a bpf_link, too. */
static int create_or_hear(int program, uint32_t ifindex, uint32_t mode)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, ours, .old_prog_fd = program);
	int fd = create(program, ifindex, mode);

	if (fd >= 0 ||
	    bpf_xdp_attach((int)ifindex, program, mode | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL))
		return fd;
	bpf_xdp_detach((int)ifindex, mode, &ours);
	return create(program, ifindex, mode);
}

int xb_ifpin_attach(const char *pins, uint32_t ifindex, int program, bool skb, bool *told)
{
	int fd = create_or_hear(program, ifindex, skb ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	char name[32];
	int error;

	*told = false;
	if (fd < 0)
		return fd;
	name_pin(ifindex, name);
	error = xb_pin(fd, pins, XB_PINS_TOP, name);
	*told = error;
	close(fd);
	return error;
}

int xb_ifpin_update(const char *pins, const struct xb_ifpin *pin, int program)
{
	int fd = xb_pin_open(pins, XB_PINS_TOP, pin->pin), error;

	if (fd < 0)
		return fd;
	error = bpf_link_update(fd, program, NULL) ? -ENOENT : 0;
	close(fd);
	return error;
}

int xb_ifpin_detach(const char *pins, const struct xb_ifpin *pin)
{
	int fd = xb_pin_open(pins, XB_PINS_TOP, pin->pin), error;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	error = xb_fault_fails("take-off");
	if (!error && bpf_link_detach(fd) && errno != ENOLINK) /* its device is gone */
		error = -errno;
	if (error)
		error = xb_refusal_stays(pin->ifindex, -error, "");
	close(fd);
	if (!error)
		xb_unpin(pins, XB_PINS_TOP, pin->pin);
	return error;
}

int xb_ifpin_rename(const char *pins, struct xb_ifpin *pin)
{
	char name[32];
	int error;

	name_pin(pin->ifindex, name);
	error = xb_pin_rename(pins, pin->pin, XB_PINS_TOP, name);
	if (error)
		return error;
	snprintf(pin->pin, sizeof(pin->pin), "%s", name);
	pin->of = pin->ifindex;
	return 0;
}

int xb_ifpin_vacate(const char *pins, const struct xb_ifpin *pin)
{
	struct bpf_link_info info;
	char name[32];
	int fd, error;

	if (!pin->ifindex) {
		xb_unpin(pins, XB_PINS_TOP, pin->pin);
		return 0;
	}
	fd = xb_pin_open(pins, XB_PINS_TOP, pin->pin);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	error = info_of(fd, &info);
	close(fd);
	snprintf(name, sizeof(name), ASIDE "%u", info.id);
	return error ? error : xb_pin_rename(pins, pin->pin, XB_PINS_TOP, name);
}
