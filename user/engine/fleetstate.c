/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/fleetstate.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/runfile.h"

#define FILE_BYTES ((size_t)16 << 20) /* at most */

static int replace(const struct xb_paths *paths, const char *name, const json_t *content)
{
	char *text = json_dumps(content, JSON_COMPACT);
	int error = text ? xb_runfile_replace(paths->run, name, text) : xb_out_of_memory();

	free(text);
	return error;
}

void xb_fleet_state_remove(const struct xb_paths *paths)
{
	xb_runfile_remove(paths->run, XB_FLEET_STATE);
	xb_runfile_remove(paths->run, XB_FLEET_VERIFIED);
}

static json_t *read_file(int fd, const char *run, const char *name, int *error)
{
	json_error_t why;
	json_t *state = json_loadfd(fd, JSON_REJECT_DUPLICATES, &why);

	if (json_is_object(state))
		return state;
	json_decref(state);
	*error = xb_system_error(0, "%s/%s is damaged; bloomd replaces it", run, name);
	return NULL;
}

static json_t *read_one(const struct xb_paths *paths, const char *name, int *error)
{
	int fd = xb_runfile_open(paths->run, name, FILE_BYTES);
	json_t *state;

	*error = fd < 0 ? fd : 0;
	if (fd < 0)
		return NULL;
	state = read_file(fd, paths->run, name, error);
	close(fd);
	return state;
}

int xb_fleet_state_write(const struct xb_paths *paths, const json_t *state)
{
	return replace(paths, XB_FLEET_STATE, state);
}

json_t *xb_fleet_state_read(const struct xb_paths *paths, int *error)
{
	return read_one(paths, XB_FLEET_STATE, error);
}

int xb_fleet_verified_write(const struct xb_paths *paths, const json_t *verified)
{
	return replace(paths, XB_FLEET_VERIFIED, verified);
}

json_t *xb_fleet_verified_read(const struct xb_paths *paths, int *error)
{
	return read_one(paths, XB_FLEET_VERIFIED, error);
}
