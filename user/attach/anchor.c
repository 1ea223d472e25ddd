/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the anchor and the entry program. */
#include "attach/anchor.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/capability.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/program.h"
#include "entry.skel.h"
#include "plain.skel.h"

#define NEW_PINS "link-new"

static const struct xb_anchor closed = {.identity = -1,
					.slot = -1,
					.ifaces = -1,
					.stats = -1,
					.notes = -1,
					.watch = -1,
					.drops = -1,
					.offenders = -1,
					.class_counts = -1,
					.hits = -1,
					.hits_names = -1,
					.entry = -1,
					.guard = XB_NO_GUARD};

/* The maps that all programs share, by the names they are declared and pinned with. */
static const struct {
	const char *name;
	size_t fd; /* where in struct xb_anchor */
	uint32_t type, value_bytes;
} shared[] = {
	{"ifaces", offsetof(struct xb_anchor, ifaces), BPF_MAP_TYPE_ARRAY,
	 sizeof(struct xb_iface_cell)},
	{"stats", offsetof(struct xb_anchor, stats), BPF_MAP_TYPE_PERCPU_ARRAY,
	 sizeof(struct xb_counts)},
	{"notes", offsetof(struct xb_anchor, notes), BPF_MAP_TYPE_ARRAY,
	 sizeof(struct xb_iface_note)},
	{"watch", offsetof(struct xb_anchor, watch), BPF_MAP_TYPE_ARRAY, sizeof(struct xb_watch)},
	{"drops", offsetof(struct xb_anchor, drops), BPF_MAP_TYPE_RINGBUF, 0},
	{"offenders", offsetof(struct xb_anchor, offenders), BPF_MAP_TYPE_RINGBUF, 0},
	{"class_counts", offsetof(struct xb_anchor, class_counts), BPF_MAP_TYPE_PERCPU_ARRAY,
	 sizeof(struct xb_class_count)},
	{"hits", offsetof(struct xb_anchor, hits), BPF_MAP_TYPE_PERCPU_ARRAY,
	 sizeof(struct xb_hits)},
	{"hits_names", offsetof(struct xb_anchor, hits_names), BPF_MAP_TYPE_PERCPU_ARRAY,
	 sizeof(struct xb_hits_name)},
};

#define SHARED (sizeof(shared) / sizeof(shared[0]))

static int *shared_fd(struct xb_anchor *anchor, size_t number)
{
	return (int *)(void *)((char *)anchor + shared[number].fd);
}

void xb_anchor_close(struct xb_anchor *anchor)
{
	for (size_t i = 0; i < SHARED; i++)
		if (*shared_fd(anchor, i) >= 0)
			close(*shared_fd(anchor, i));
	if (anchor->identity >= 0)
		close(anchor->identity);
	if (anchor->slot >= 0)
		close(anchor->slot);
	if (anchor->entry >= 0)
		close(anchor->entry);
	xb_guard_close(&anchor->guard);
	*anchor = closed;
}

static int open_shared(struct xb_anchor *anchor, const struct xb_pins *from)
{
	anchor->slot = xb_pins_get_map(from, "slot", BPF_MAP_TYPE_PROG_ARRAY, sizeof(uint32_t));
	if (anchor->slot < 0)
		return anchor->slot;
	for (size_t i = 0; i < SHARED; i++) {
		int *fd = shared_fd(anchor, i);

		*fd = xb_pins_get_map(from, shared[i].name, shared[i].type, shared[i].value_bytes);
		if (*fd < 0)
			return *fd;
	}
	return 0;
}

static void read_netns(struct xb_anchor *anchor)
{
	uint32_t cookie = XB_IDENTITY_NETNS_COOKIE, inode = XB_IDENTITY_NETNS_INODE;
	struct xb_netns self = xb_netns_self();

	if (bpf_map_lookup_elem(anchor->identity, &cookie, &anchor->netns.cookie) ||
	    bpf_map_lookup_elem(anchor->identity, &inode, &anchor->netns.inode))
		anchor->netns = (struct xb_netns){0};
	anchor->elsewhere = !xb_netns_same(&self, &anchor->netns);
}

int xb_anchor_refuse_newer(const char *pins, const char *what, uint32_t layout, uint32_t ours)
{
	return xb_system_error(
		0,
		"%s was put in force by a newer %s (%s %u, this one has %u); use that one, it "
		"goes on enforcing",
		pins, xb_program(), what, layout, ours);
}

static int read_identity(struct xb_anchor *anchor, const struct xb_pins *from)
{
	struct xb_anchor_identity identity;
	uint32_t zero = 0;

	anchor->identity = xb_pins_get_map(from, "identity", BPF_MAP_TYPE_ARRAY, sizeof(identity));
	if (anchor->identity < 0)
		return anchor->identity;
	if (bpf_map_lookup_elem(anchor->identity, &zero, &identity))
		return xb_system_error(errno, "cannot read the anchor of %s", anchor->pins);
	if (identity.layout < XB_ANCHOR_LAYOUT) {
		xb_system_error(0,
				"%s was put in force by an older %s (layout %u, this one has "
				"%d); it goes on enforcing%s",
				anchor->pins, xb_program(), identity.layout, XB_ANCHOR_LAYOUT,
				xb_advice(XB_ADVICE_REPLACE_OLD));
		return -ESTALE;
	}
	if (identity.layout > XB_ANCHOR_LAYOUT)
		return xb_anchor_refuse_newer(anchor->pins, "layout", identity.layout,
					      XB_ANCHOR_LAYOUT);
	anchor->flavour = identity.flavour;
	read_netns(anchor);
	return 0;
}

static int open_pins(struct xb_anchor *anchor, const struct xb_pins *from)
{
	int error = read_identity(anchor, from);

	if (!error)
		error = open_shared(anchor, from);
	if (error || anchor->flavour != XB_FLAVOUR_LINK)
		return error;
	anchor->entry = xb_pins_get(from, "entry");
	return anchor->entry < 0 ? anchor->entry : 0;
}

int xb_anchor_open(const char *pins, struct xb_anchor *anchor)
{
	struct xb_pins from;
	int error = xb_pins_open(pins, XB_ANCHOR_PINS, &from);

	*anchor = closed;
	anchor->pins = pins;
	if (error)
		return error;
	error = open_pins(anchor, &from);
	xb_pins_close(&from);
	if (!error)
		error = xb_anchor_find_guard(anchor);
	if (error)
		xb_anchor_close(anchor);
	return error;
}

void xb_anchor_set_flavour(const struct xb_anchor *anchor, struct bpf_program *program)
{
	/* A program array takes programs of its entry's flavour only. */
	if (anchor->flavour == XB_FLAVOUR_LINK)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	else
		bpf_program__set_expected_attach_type(program, 0);
}

int xb_anchor_lend(const struct xb_anchor *anchor, struct bpf_object *object)
{
	struct xb_anchor from = *anchor;
	int error = 0;

	for (size_t i = 0; !error && i < SHARED; i++)
		error = bpf_map__reuse_fd(bpf_object__find_map_by_name(object, shared[i].name),
					  *shared_fd(&from, i));
	return error;
}

static int create_identity(enum xb_flavour flavour)
{
	struct xb_anchor_identity identity = {.layout = XB_ANCHOR_LAYOUT, .flavour = flavour};
	struct xb_netns self = xb_netns_self();
	const void *cells[XB_IDENTITY_CELLS] = {[XB_IDENTITY_LAYOUT] = &identity,
						[XB_IDENTITY_NETNS_COOKIE] = &self.cookie,
						[XB_IDENTITY_NETNS_INODE] = &self.inode};
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "identity", sizeof(uint32_t), sizeof(identity),
				XB_IDENTITY_CELLS, NULL);

	if (fd < 0)
		return xb_system_error(errno, "cannot create a BPF map");
	for (uint32_t i = 0; i < XB_IDENTITY_CELLS; i++) {
		if (bpf_map_update_elem(fd, &i, cells[i], 0)) {
			close(fd);
			return xb_system_error(errno, "cannot write a BPF map");
		}
	}
	return fd;
}

static int pin_all(const char *pins, int identity, const struct entry_bpf *skeleton,
		   enum xb_flavour flavour)
{
	int error = xb_pin(identity, pins, NEW_PINS, "identity");

	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.slot), pins, NEW_PINS, "slot");
	for (size_t i = 0; !error && i < SHARED; i++)
		error = xb_pin(bpf_object__find_map_fd_by_name(skeleton->obj, shared[i].name), pins,
			       NEW_PINS, shared[i].name);
	if (!error && flavour == XB_FLAVOUR_LINK)
		error = xb_pin(bpf_program__fd(skeleton->progs.xdp_bloom_entry), pins, NEW_PINS,
			       "entry");
	return error;
}

int xb_anchor_set_aside(const char *pins)
{
	struct xb_anchor_identity identity;
	uint32_t zero = 0;
	char name[32];
	int error = 0, fd = xb_pin_open(pins, XB_ANCHOR_PINS, "identity");

	if (fd >= 0) {
		error = bpf_map_lookup_elem(fd, &zero, &identity);
		close(fd);
	} else if (fd != -ENOENT) {
		return fd;
	}
	if (error)
		return xb_system_error(errno, "cannot read the anchor of %s", pins);
	if (fd < 0 || identity.layout == XB_ANCHOR_LAYOUT) {
		xb_unpin_directory(pins, XB_PINS_TOP,
				   XB_ANCHOR_PINS); /* of which pins are missing */
		return 0;
	}
	snprintf(name, sizeof(name), XB_ANCHOR_OLDER "%u", identity.layout);
	error = xb_pin_rename(pins, XB_GUARD_PINS, XB_ANCHOR_PINS, XB_GUARD_PINS);
	xb_fault("upgrade-trial");
	if (!error)
		error = xb_pin_rename(pins, XB_ANCHOR_PINS, XB_PINS_TOP, name);
	xb_fault("upgrade-aside");
	return error;
}

int xb_anchor_create(const char *pins, enum xb_flavour flavour, struct xb_anchor *anchor)
{
	char staged[XB_PATH_MAX], final[XB_PATH_MAX];
	struct entry_bpf *skeleton = NULL;
	int identity = -1, error;

	*anchor = closed;
	error = xb_capabilities_need();
	if (!error)
		error = xb_pin_directory(pins);
	if (error)
		return error;
	error = xb_path_join(staged, pins, NEW_PINS);
	if (!error)
		error = xb_path_join(final, pins, XB_ANCHOR_PINS);
	if (error)
		return error;
	xb_unpin_directory(pins, XB_PINS_TOP, NEW_PINS);
	identity = create_identity(flavour);
	if (identity < 0)
		return identity;
	skeleton = entry_bpf__open();
	if (!skeleton) {
		error = xb_system_error(errno, "cannot open the entry program");
		goto out;
	}
	if (flavour == XB_FLAVOUR_LINK)
		bpf_program__set_flags(skeleton->progs.xdp_bloom_entry, BPF_F_XDP_HAS_FRAGS);
	else
		bpf_program__set_autoload(skeleton->progs.xdp_bloom_entry, false);
	error = entry_bpf__load(skeleton);
	if (error) {
		error = xb_system_error(
			-error,
			"the kernel refused the entry program (Linux 6.1 or later is needed)");
		goto out;
	}
	error = xb_pin_subdirectory(pins, NEW_PINS);
	if (error)
		goto out;
	error = pin_all(pins, identity, skeleton, flavour);
	if (!error)
		error = xb_anchor_set_aside(pins);
	if (!error && rename(staged, final) < 0)
		error = xb_system_error(errno, "cannot publish %s", final);
	if (error)
		xb_unpin_directory(pins, XB_PINS_TOP, NEW_PINS);
out:
	entry_bpf__destroy(skeleton);
	close(identity);
	return error ? error : xb_anchor_open(pins, anchor);
}

void xb_anchor_destroy(const char *pins)
{
	xb_unpin_directory(pins, XB_PINS_TOP, NEW_PINS);
	xb_unpin_directory(pins, XB_PINS_TOP, XB_ANCHOR_PINS);
}

/* Whether the entry loads in place of the program. */
static bool entry_replaces(const struct bpf_program *target)
{
	struct entry_bpf *skeleton = entry_bpf__open();
	struct bpf_program *entry;
	bool loads;

	if (!skeleton)
		return false;
	entry = skeleton->progs.xdp_bloom_entry;
	bpf_program__set_type(entry, BPF_PROG_TYPE_EXT);
	bpf_program__set_expected_attach_type(entry, 0);
	loads = !bpf_program__set_attach_target(entry, bpf_program__fd(target),
						bpf_program__name(target)) &&
		!entry_bpf__load(skeleton);
	entry_bpf__destroy(skeleton);
	return loads;
}

/*
 * Whether the entry can be a part of libxdp's dispatcher, as an extension. Where the kernel has
 * none, libxdp would hold the interface alone. Kernels from 6.13 on, and 6.12 of Debian 13, let no
 * program that makes a tail call replace one that changes no packet.
 */
static bool entry_can_extend(void)
{
	struct plain_bpf *plain;
	bool can;

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_EXT, NULL) != 1)
		return false;
	plain = plain_bpf__open_and_load();
	can = plain && entry_replaces(plain->progs.xdp_bloom_plain);
	plain_bpf__destroy(plain);
	return can;
}

enum xb_flavour xb_anchor_flavour(void)
{
	return xb_capability_by_id() && entry_can_extend() ? XB_FLAVOUR_DISPATCHER
							   : XB_FLAVOUR_LINK;
}

int xb_anchor_slot(const struct xb_anchor *anchor, uint32_t *id)
{
	return xb_program_in(anchor->slot, 0, id);
}

int xb_anchor_find_guard(struct xb_anchor *anchor)
{
	uint32_t id;
	int error = xb_anchor_slot(anchor, &id);

	xb_guard_close(&anchor->guard);
	if (!error)
		error = xb_guard_open(anchor->pins, id, &anchor->guard);
	return error == -ENOENT ? 0 : error;
}

int xb_anchor_at_home(const struct xb_anchor *anchor)
{
	char enter[XB_NETNS_ENTER];
	bool named;

	if (!anchor->elsewhere)
		return 0;
	named = xb_netns_enter(&anchor->netns, enter);
	return xb_system_error(
		0,
		"%s filters interfaces of another network namespace; run this there: "
		"%s%s (not `ip netns exec`, which hides the pins)%s%s",
		anchor->pins, enter, xb_advice(XB_ADVICE_RUN_THERE),
		named ? "" : "; if that namespace is gone: rm -r ", named ? "" : anchor->pins);
}

void xb_anchor_note_elsewhere(const struct xb_anchor *anchor)
{
	char enter[XB_NETNS_ENTER];

	if (!anchor->elsewhere)
		return;
	xb_netns_enter(&anchor->netns, enter);
	xb_warning("%s filters interfaces of another network namespace; names shown here "
		   "may be those of others: %s%s shows the right ones",
		   anchor->pins, enter, xb_advice(XB_ADVICE_RUN_THERE));
}
