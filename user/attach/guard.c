/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding and changing the guard that is pinned. */
#include "attach/guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/pin.h"
#include "base/error.h"

const struct xb_guard xb_no_guard = XB_NO_GUARD;

void xb_guard_close(struct xb_guard *guard)
{
	int fds[] = {guard->program, guard->sides, guard->cell, guard->only};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*guard = xb_no_guard;
}

int xb_guard_open(const char *pins, uint32_t program, struct xb_guard *guard)
{
	char directory[XB_PATH_MAX];
	uint32_t first = 0;
	int error = xb_path_join(directory, pins, XB_GUARD_PINS);

	*guard = xb_no_guard;
	if (error)
		return error;
	guard->program = xb_pin_open(directory, "program");
	if (guard->program < 0) {
		error = guard->program;
	} else if (!program || xb_program_id(guard->program) != program) {
		error = -ENOENT;
	} else {
		guard->sides = xb_pin_open_map(directory, "sides", BPF_MAP_TYPE_PROG_ARRAY,
					       sizeof(uint32_t));
		guard->cell = xb_pin_open_map(directory, "cell", BPF_MAP_TYPE_ARRAY,
					      sizeof(guard->state));
		guard->only =
			xb_pin_open_map(directory, "only", BPF_MAP_TYPE_HASH, sizeof(uint32_t));
		error = guard->sides < 0 ? guard->sides : guard->cell < 0 ? guard->cell : 0;
		if (!error && guard->only < 0 && guard->only != -ENOENT)
			error = guard->only;
	}
	if (!error && bpf_map_lookup_elem(guard->cell, &first, &guard->state))
		error = xb_system_error(errno, "cannot read the trial");
	if (error)
		xb_guard_close(guard);
	return error;
}

bool xb_guard_tries(const struct xb_guard *guard, uint32_t ifindex)
{
	uint32_t value;

	return guard->only >= 0 && !bpf_map_lookup_elem(guard->only, &ifindex, &value);
}

int xb_guard_release(const struct xb_guard *guard, uint32_t ifindex)
{
	if (guard->only >= 0 && bpf_map_delete_elem(guard->only, &ifindex) && errno != ENOENT)
		return xb_system_error(errno, "cannot take an interface out of the trial");
	return 0;
}

void xb_guard_remove(const char *pins)
{
	xb_unpin_directory(pins, XB_GUARD_PINS);
}

uint32_t xb_guard_side(const struct xb_guard *guard, enum xb_trial_side side)
{
	uint32_t key = side, id = 0;

	return bpf_map_lookup_elem(guard->sides, &key, &id) ? 0 : id;
}

int xb_guard_set_side(const struct xb_guard *guard, enum xb_trial_side side, int program)
{
	uint32_t key = side;

	if (bpf_map_update_elem(guard->sides, &key, &program, BPF_ANY))
		return xb_system_error(errno, "cannot put a filter into the trial");
	return 0;
}

int xb_guard_set_deadline(struct xb_guard *guard, uint64_t deadline, uint64_t before)
{
	uint32_t first = 0;

	guard->state.deadline = deadline;
	guard->state.before = before;
	if (bpf_map_update_elem(guard->cell, &first, &guard->state, BPF_ANY))
		return xb_system_error(errno, "cannot move the end of the trial");
	return 0;
}
