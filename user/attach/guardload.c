/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/guardload.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "attach/pin.h"
#include "base/capability.h"
#include "base/error.h"
#include "guard.skel.h"

static int set_only(const struct guard_bpf *skeleton, const uint32_t *ifindexes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t value = XB_ONLY_TRIED;

		if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.only), &ifindexes[i], &value,
					BPF_ANY))
			return xb_system_error(errno, "cannot write the trial");
	}
	return 0;
}

static int pin_all(const char *pins, const struct guard_bpf *skeleton)
{
	int error = xb_pin_subdirectory(pins, XB_GUARD_PINS);

	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.sides), pins, XB_GUARD_PINS, "sides");
	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.cell), pins, XB_GUARD_PINS, "cell");
	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.only), pins, XB_GUARD_PINS, "only");
	return error ? error
		     : xb_pin(bpf_program__fd(skeleton->progs.xdp_bloom_guard), pins, XB_GUARD_PINS,
			      "program");
}

static int load(const struct xb_anchor *anchor, struct guard_bpf *skeleton)
{
	int error = xb_anchor_lend(anchor, skeleton->obj);

	xb_anchor_set_flavour(anchor, skeleton->progs.xdp_bloom_guard);
	if (!error)
		error = guard_bpf__load(skeleton);
	return error ? xb_system_error(-error, "the kernel refused the program of the trial") : 0;
}

int xb_guard_create(const struct xb_anchor *anchor, const struct xb_trial_cell *state, int tried,
		    int former, const uint32_t *ifindexes, size_t count, struct xb_guard *guard)
{
	struct guard_bpf *skeleton;
	uint32_t first = 0;
	int error = xb_capabilities_need();

	*guard = xb_no_guard;
	if (error)
		return error;
	skeleton = guard_bpf__open();
	if (!skeleton)
		return xb_system_error(errno, "cannot open the program of the trial");
	xb_guard_remove(anchor->pins);
	error = load(anchor, skeleton);
	if (!error && bpf_map_update_elem(bpf_map__fd(skeleton->maps.cell), &first, state, BPF_ANY))
		error = xb_system_error(errno, "cannot write the trial");
	if (!error)
		error = set_only(skeleton, ifindexes, count);
	if (!error)
		error = pin_all(anchor->pins, skeleton);
	if (!error)
		error = xb_guard_open(
			anchor->pins,
			xb_program_id(bpf_program__fd(skeleton->progs.xdp_bloom_guard)), guard);
	if (!error && tried >= 0)
		error = xb_guard_set_side(guard, XB_TRIED, tried);
	if (!error && former >= 0)
		error = xb_guard_set_side(guard, XB_FORMER, former);
	guard_bpf__destroy(skeleton);
	if (error) {
		xb_guard_close(guard);
		xb_guard_remove(anchor->pins);
	}
	return error;
}
