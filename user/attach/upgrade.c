/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands aside while a new anchor takes over. Of it only this is read: its identity, its slot,
 * and the table of interfaces if that is laid out as ours. */
#include "attach/upgrade.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/pin.h"
#include "attach/refusal.h"
#include "base/error.h"
#include "base/faultpoint.h"

/* Does `what` with the directory of every older anchor. */
static int for_each(const char *pins, const struct xb_anchor *anchor,
		    int (*what)(const char *pins, const char *name, const struct xb_anchor *anchor))
{
	DIR *listing = opendir(pins);
	struct dirent *item;
	int error = 0;

	while (listing && !error && (item = readdir(listing)))
		if (!strncmp(item->d_name, XB_ANCHOR_OLDER, strlen(XB_ANCHOR_OLDER)))
			error = what(pins, item->d_name, anchor);
	if (listing)
		closedir(listing);
	return error;
}

static bool is_our_table(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_MAP_TYPE_ARRAY &&
	       info.value_size == sizeof(struct xb_iface_cell) &&
	       info.max_entries == XB_IFACE_CELLS;
}

/* A row that the new anchor has may have got another name since. */
static int carry_names(const char *pins, const char *name, const struct xb_anchor *anchor)
{
	int error = 0, fd = xb_pin_open(pins, name, "ifaces");

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	for (uint32_t i = 0; !error && is_our_table(fd) && i < XB_IFACE_CELLS; i++) {
		struct xb_iface_cell cell;

		if (!bpf_map_lookup_elem(fd, &i, &cell) && cell.ifindex &&
		    !xb_anchor_is_enrolled(anchor, cell.ifindex))
			error = xb_anchor_enrol(anchor, cell.ifindex, cell.name);
	}
	close(fd);
	xb_fault("upgrade-carried");
	return error;
}

int xb_upgrade_carry(const struct xb_anchor *anchor)
{
	return for_each(anchor->pins, anchor, carry_names);
}

/* Only what xb_detach_former() needs of it. */
static int open_older(const char *pins, const char *name, struct xb_anchor *older)
{
	struct xb_anchor_identity identity;
	uint32_t zero = 0;
	int fd = xb_pin_open(pins, name, "identity"), error;

	older->slot = -1;
	if (fd < 0)
		return fd;
	error = bpf_map_lookup_elem(fd, &zero, &identity);
	close(fd);
	if (error)
		return xb_system_error(errno, "cannot read the anchor of %s", pins);
	older->flavour = identity.flavour;
	older->slot = xb_pin_open(pins, name, "slot");
	return older->slot < 0 ? older->slot : 0;
}

static int end_one(const char *pins, const char *name, const struct xb_anchor *anchor)
{
	struct xb_anchor older = {.pins = pins};
	int error;

	xb_fault("upgrade-attached");
	error = open_older(pins, name, &older);
	if (!error)
		error = xb_detach_former(anchor, &older);
	if (older.slot >= 0)
		close(older.slot);
	/* Without its pins the slot is empty for good: everything passes there. */
	if (error == XB_STAYS_ON) {
		xb_warning("%s; it lets everything pass", xb_error_message());
		error = 0;
	}
	/* -ENOENT: somebody died while it was removed. */
	if (error && error != -ENOENT)
		return error;
	xb_fault("upgrade-detached");
	xb_unpin_directory(pins, name, XB_GUARD_PINS);
	xb_unpin_directory(pins, XB_PINS_TOP, name);
	return 0;
}

static int find_one(const char *pins, const char *name, const struct xb_anchor *anchor)
{
	(void)pins;
	(void)name;
	(void)anchor;
	return 1;
}

bool xb_upgrade_is_on(const char *pins)
{
	return for_each(pins, NULL, find_one) == 1;
}

int xb_upgrade_finish(const char *pins, const struct xb_anchor *anchor)
{
	return for_each(pins, anchor, end_one);
}
