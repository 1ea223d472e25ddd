/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libxdp: each interface's dispatcher gets an entry program of its own, loaded by libxdp as an
 * extension of it. */
#include "attach/dispatcher.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "attach/extack.h"
#include "attach/pin.h"
#include "attach/refusal.h"
#include "base/capability.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "entry.skel.h"

#define ENTRY_NAME "xdp_bloom_entry"

/* More than libxdp opens for a full dispatcher and the one that takes its place. */
#define SPARE_DESCRIPTORS 64

/*
 * Out of descriptors libxdp takes a dispatcher for a program of somebody else's, or for none, and
 * would put one of ours alone in its place.
 */
static int need_descriptors(void)
{
	int fd[SPARE_DESCRIPTORS], count = 0, error = 0;

	while (!error && count < SPARE_DESCRIPTORS) {
		fd[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		error = fd[count] < 0 ? errno : 0;
		count += !error;
	}
	while (count)
		close(fd[--count]);
	return error ? xb_system_error(error, "libxdp needs %d descriptors", SPARE_DESCRIPTORS) : 0;
}

/* A dispatcher without programs has some that could not be read. */
static bool is_torn(const struct xdp_multiprog *programs)
{
	const struct xdp_program *first = xdp_multiprog__main_prog(programs);
	const char *name = first ? xdp_program__name(first) : "xdp_dispatcher";

	if (xdp_multiprog__next_prog(NULL, programs) || xdp_multiprog__hw_prog(programs))
		return false;
	return name && !strcmp(name, "xdp_dispatcher");
}

/* All that is on the interface, for the caller to close. NULL: nothing, or it is gone. Takes
 * CAP_SYS_ADMIN. */
static int look(uint32_t ifindex, struct xdp_multiprog **programs)
{
	int error = need_descriptors();

	*programs = NULL;
	if (error)
		return error;
	libxdp_set_print(NULL);
	*programs = xdp_multiprog__get_from_ifindex((int)ifindex);
	error = (int)libxdp_get_error(*programs);
	if (error) {
		*programs = NULL;
		if (error == -ENOENT || error == -ENODEV)
			return 0;
		return xb_system_error(-error, "libxdp cannot look at interface %u", ifindex);
	}
	if (!is_torn(*programs))
		return 0;
	xdp_multiprog__close(*programs);
	*programs = NULL;
	return xb_system_error(0,
			       "libxdp cannot read the programs of the dispatcher on interface %u; "
			       "if their pins are gone, `ip link set dev IFACE xdp off` frees it",
			       ifindex);
}

static bool is_entry(const struct xdp_program *program)
{
	const char *name = xdp_program__name(program);

	/* The kernel keeps 15 bytes of a name; libxdp takes the full one from BTF where it can. */
	return name && !strncmp(name, ENTRY_NAME, 15);
}

#define MAPS_MAX 64

/* Identities of the maps the program uses; how many. */
static uint32_t maps_of(int fd, uint32_t maps[MAPS_MAX])
{
	struct bpf_prog_info info = {.nr_map_ids = MAPS_MAX, .map_ids = (uint64_t)(uintptr_t)maps};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return info.nr_map_ids < MAPS_MAX ? info.nr_map_ids : MAPS_MAX;
}

static bool uses_map(int fd, uint32_t map)
{
	uint32_t maps[MAPS_MAX], count = maps_of(fd, maps);

	for (uint32_t i = 0; i < count; i++)
		if (maps[i] == map)
			return true;
	return false;
}

int xb_dispatcher_has(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xdp_multiprog *programs;
	struct xdp_program *program = NULL;
	uint32_t slot = xb_map_id(anchor->slot);
	int found = 0, error;

	if (!xb_capability_by_id())
		return 1;
	error = look(ifindex, &programs);
	if (error || !programs)
		return error;
	while (found != 1 && (program = xdp_multiprog__next_prog(program, programs)))
		if (is_entry(program))
			found = uses_map(xdp_program__fd(program), slot) ? 1 : 2;
	xdp_multiprog__close(programs);
	return found;
}

/* Whether the program's own slot is empty for good: the pins of its anchor are gone. */
static bool is_dead(int fd)
{
	uint32_t maps[MAPS_MAX], count = maps_of(fd, maps), zero = 0, id;

	if (!count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		int map = bpf_map_get_fd_by_id(maps[i]);
		struct bpf_map_info about = {0};
		uint32_t about_size = sizeof(about);
		bool filled = map >= 0 && !bpf_obj_get_info_by_fd(map, &about, &about_size) &&
			      about.type == BPF_MAP_TYPE_PROG_ARRAY &&
			      !bpf_map_lookup_elem(map, &zero, &id);

		if (map >= 0)
			close(map);
		if (filled)
			return false;
	}
	return true;
}

/* An entry with this slot, or with one that is empty for good. */
static bool gives_way(const struct xdp_program *program, uint32_t slot)
{
	int fd = xdp_program__fd(program);

	return is_entry(program) && (uses_map(fd, slot) || is_dead(fd));
}

int xb_dispatcher_is_shared(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xdp_multiprog *programs = NULL;
	struct xdp_program *program = NULL;
	uint32_t slot = xb_map_id(anchor->slot);
	bool shared = false;
	int error = xb_dispatcher_allowed();

	if (!error)
		error = look(ifindex, &programs);
	if (error || !programs)
		return error;
	while (!shared && (program = xdp_multiprog__next_prog(program, programs)))
		shared = !gives_way(program, slot);
	xdp_multiprog__close(programs);
	return shared;
}

int xb_dispatcher_joins(uint32_t ifindex)
{
	struct xdp_multiprog *programs;
	int error = look(ifindex, &programs);
	bool joins;

	if (error || !programs)
		return error ? error : 1;
	joins = !xdp_multiprog__is_legacy(programs);
	xdp_multiprog__close(programs);
	return joins;
}

int xb_dispatcher_allowed(void)
{
	return xb_capability_by_id()
		       ? 0
		       : xb_system_error(0, "libxdp's dispatcher is entered and left with "
					    "CAP_SYS_ADMIN only; run as root");
}

static int leave(struct xdp_program *program, uint32_t ifindex,
		 const struct xdp_multiprog *programs)
{
	int error = xb_fault_fails("take-off");

	return error ? error
		     : xdp_program__detach(program, (int)ifindex,
					   xdp_multiprog__attach_mode(programs), 0);
}

/* After xb_extack_end(). Only what is no matter of this process stays so until something else has
 * changed. */
static int tell_why(uint32_t ifindex, int error)
{
	const char *sentence = xb_extack();

	if (error == EINVAL || error == EOPNOTSUPP || error == ERANGE || error == EBUSY)
		return xb_refusal_stays(ifindex, error, sentence);
	return xb_system_error(error, "cannot leave the dispatcher of interface %u%s%s%s", ifindex,
			       sentence[0] ? ", the kernel says \"" : "", sentence,
			       sentence[0] ? "\"" : "");
}

int xb_dispatcher_detach(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xdp_multiprog *programs = NULL;
	struct xdp_program *program = NULL, *ours[16];
	size_t count = 0;
	uint32_t slot = xb_map_id(anchor->slot);
	int error = xb_dispatcher_allowed();

	if (!error)
		error = look(ifindex, &programs);
	if (error || !programs)
		return error;
	while (count < sizeof(ours) / sizeof(ours[0]) &&
	       (program = xdp_multiprog__next_prog(program, programs)))
		if (gives_way(program, slot))
			ours[count++] = program;
	xb_extack_begin();
	for (size_t i = 0; !error && i < count; i++)
		error = leave(ours[i], ifindex, programs);
	xb_extack_end();
	xdp_multiprog__close(programs);
	return error ? tell_why(ifindex, -error) : 0;
}

int xb_dispatcher_attach(const struct xb_anchor *anchor, uint32_t ifindex, enum xb_mode mode,
			 bool *told)
{
	struct entry_bpf *skeleton;
	struct xdp_program *program;
	int error;

	*told = false;
	if (!xb_capability_by_id())
		return -EPERM;
	error = xb_dispatcher_detach(anchor, ifindex);
	*told = error;
	if (error)
		return error;
	skeleton = entry_bpf__open();
	if (!skeleton)
		return -errno;
	error = bpf_map__reuse_fd(skeleton->maps.slot, anchor->slot);
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.ifaces, anchor->ifaces);
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.stats, anchor->stats);
	if (error)
		goto out;
	program = xdp_program__from_bpf_obj(skeleton->obj, "xdp");
	error = (int)libxdp_get_error(program);
	if (error)
		goto out;
	error = xdp_program__attach(program, (int)ifindex,
				    mode == XB_MODE_SKB ? XDP_MODE_SKB : XDP_MODE_NATIVE, 0);
	xdp_program__close(program);
out:
	entry_bpf__destroy(skeleton);
	return error;
}
