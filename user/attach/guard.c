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
#include "base/faultpoint.h"

const struct xb_guard xb_no_guard = XB_NO_GUARD;

void xb_guard_close(struct xb_guard *guard)
{
	int fds[] = {guard->program, guard->sides, guard->cell, guard->only};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*guard = xb_no_guard;
}

static int open_pins(const struct xb_pins *from, uint32_t program, struct xb_guard *guard)
{
	uint32_t id = 0;
	int error;

	guard->program = xb_pins_get(from, "program");
	error = guard->program < 0 ? guard->program : xb_program_ask(guard->program, &id);
	if (error || id != program)
		return error ? error : -ENOENT;
	guard->sides = xb_pins_get_map(from, "sides", BPF_MAP_TYPE_PROG_ARRAY, sizeof(uint32_t));
	if (guard->sides < 0)
		return guard->sides;
	guard->cell = xb_pins_get_map(from, "cell", BPF_MAP_TYPE_ARRAY, sizeof(guard->state));
	if (guard->cell < 0)
		return guard->cell;
	guard->only = xb_pins_get_map(from, "only", BPF_MAP_TYPE_HASH, sizeof(uint32_t));
	return guard->only < 0 && guard->only != -ENOENT ? guard->only : 0;
}

int xb_guard_open(const char *pins, uint32_t program, struct xb_guard *guard)
{
	struct xb_pins from;
	uint32_t first = 0;
	int error = xb_pins_open(pins, XB_GUARD_PINS, &from);

	*guard = xb_no_guard;
	if (error)
		return error;
	error = open_pins(&from, program, guard);
	xb_pins_close(&from);
	if (!error && bpf_map_lookup_elem(guard->cell, &first, &guard->state))
		error = xb_system_error(errno, "cannot read the trial");
	if (error)
		xb_guard_close(guard);
	return error;
}

/* An enum xb_only; 0: neither on trial nor left. */
static uint32_t apart(const struct xb_guard *guard, uint32_t ifindex)
{
	uint32_t value;

	return guard->only >= 0 && !bpf_map_lookup_elem(guard->only, &ifindex, &value) ? value : 0;
}

bool xb_guard_tries(const struct xb_guard *guard, uint32_t ifindex)
{
	return apart(guard, ifindex) == XB_ONLY_TRIED;
}

bool xb_guard_has_left(const struct xb_guard *guard, uint32_t ifindex)
{
	return apart(guard, ifindex) == XB_ONLY_LEFT;
}

uint32_t xb_guard_next(const struct xb_guard *guard, uint32_t ifindex)
{
	uint32_t next;

	return guard->only >= 0 &&
			       !bpf_map_get_next_key(guard->only, ifindex ? &ifindex : NULL, &next)
		       ? next
		       : 0;
}

bool xb_guard_any_left(const struct xb_guard *guard)
{
	uint32_t ifindex = 0;

	while ((ifindex = xb_guard_next(guard, ifindex)))
		if (xb_guard_has_left(guard, ifindex))
			return true;
	return false;
}

static int write_cell(const struct xb_guard *guard)
{
	uint32_t first = 0;

	if (bpf_map_update_elem(guard->cell, &first, &guard->state, BPF_ANY))
		return xb_system_error(errno, "cannot write the trial");
	return 0;
}

/* Last what readers know it by: killed in between, it is not left yet. */
int xb_guard_leave(struct xb_guard *guard, uint32_t ifindex)
{
	uint32_t value = XB_ONLY_LEFT;
	int error;

	if (guard->only < 0)
		return xb_system_error(0, "the trial was begun by an older version");
	guard->state.left = 1;
	error = write_cell(guard);
	xb_fault("left-announced");
	if (!error && bpf_map_update_elem(guard->only, &ifindex, &value, BPF_ANY))
		error = xb_system_error(errno, "cannot let interface %u go", ifindex);
	return error;
}

int xb_guard_end_trial(struct xb_guard *guard)
{
	uint32_t ifindex = xb_guard_next(guard, 0), next;
	int error = 0;

	for (; !error && ifindex; ifindex = next) {
		next = xb_guard_next(guard, ifindex);
		if (xb_guard_tries(guard, ifindex))
			error = xb_guard_release(guard, ifindex);
	}
	return error ? error : xb_guard_expire(guard);
}

int xb_guard_release(const struct xb_guard *guard, uint32_t ifindex)
{
	if (guard->only >= 0 && bpf_map_delete_elem(guard->only, &ifindex) && errno != ENOENT)
		return xb_system_error(errno, "cannot take an interface out of the trial");
	return 0;
}

void xb_guard_remove(const char *pins)
{
	xb_unpin_directory(pins, XB_PINS_TOP, XB_GUARD_PINS);
}

int xb_guard_side(const struct xb_guard *guard, enum xb_trial_side side, uint32_t *id)
{
	return xb_program_in(guard->sides, side, id);
}

int xb_guard_set_side(const struct xb_guard *guard, enum xb_trial_side side, int program)
{
	uint32_t key = side;

	if (bpf_map_update_elem(guard->sides, &key, &program, BPF_ANY))
		return xb_system_error(errno, "cannot put a filter into the trial");
	return 0;
}

int xb_guard_clear_side(const struct xb_guard *guard, enum xb_trial_side side)
{
	uint32_t key = side;

	if (bpf_map_delete_elem(guard->sides, &key) && errno != ENOENT)
		return xb_system_error(errno, "cannot take a filter out of the trial");
	return 0;
}

int xb_guard_expire(struct xb_guard *guard)
{
	guard->state.deadline = 0;
	return write_cell(guard);
}
