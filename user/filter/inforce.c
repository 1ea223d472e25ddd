/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/inforce.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/knownpins.h"
#include "attach/pin.h"
#include "attach/swap.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/faultpoint.h"

/* What says nothing of the counters, only of this process or the machine. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* A descriptor, or a negative errno without a message. */
static int open_file(const struct xb_paths *paths, const struct xb_generation *generation)
{
	int directory = xb_directory_below(paths->run, XB_COUNTERS_DIRECTORY), fd;
	char file[XB_COUNTERS_NAME];

	if (directory < 0)
		return directory;
	xb_generation_counters_name(generation->params.store, generation->name, file);
	xb_fault("counters-open");
	fd = openat(directory, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	fd = fd < 0 ? -errno : fd;
	close(directory);
	return fd;
}

/* A file of the right size that names this generation. -1: there is none. Else a negative errno
 * below that, with a message. */
static int open_counters(const struct xb_paths *paths, const struct xb_generation *generation)
{
	struct xb_counters_header header;
	struct stat st;
	int fd = open_file(paths, generation);

	if (fd < 0)
		return is_shortage(-fd)
			       ? xb_system_error(-fd, "cannot open the counters in %s", paths->run)
			       : -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (size_t)st.st_size != xb_generation_file_bytes(&generation->params) ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != XB_COUNTERS_MAGIC ||
	    header.generation != generation->params.generation) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A constant of the program, read back. -ENOENT without a message: there is none like it. */
static int read_constant(const char *directory, const char *name, void *value, uint32_t size)
{
	int error, fd = xb_pin_open_map(directory, name, BPF_MAP_TYPE_ARRAY, size);
	uint32_t zero = 0;

	if (fd < 0)
		return fd == -EBADF ? -ENOENT : fd; /* another version's, too */
	error = bpf_map_lookup_elem(fd, &zero, value)
			? xb_system_error(errno, "cannot read %s/%s", directory, name)
			: 0;
	close(fd);
	return error;
}

static int open_pins(const char *directory, struct xb_generation *generation)
{
	struct xb_params *params = &generation->params;
	int error = read_constant(directory, "params", params, sizeof(*params));

	if (!error && params->layout != XB_GENERATION_LAYOUT)
		return -ENOENT; /* another version's: to be built anew */
	if (!error && !xb_params_are_sound(params))
		return -ENOENT; /* nobody's */
	if (!error && params->names.blocks)
		error = read_constant(directory, "name_key", &generation->name_key,
				      sizeof(generation->name_key));
	for (enum xb_map map = 0; !error && map < XB_MAPS; map++) {
		if (!xb_map_entries(map, params))
			continue;
		generation->map[map] = xb_pin_open(directory, xb_map_name(map));
		if (generation->map[map] < 0)
			error = generation->map[map];
		else if (!xb_map_is(generation->map[map], map, params))
			error = -ENOENT;
	}
	return error;
}

/* The name of the pin directory whose program has this identity. *program: a descriptor of it. */
static int find_active(const char *pins, uint32_t id, char *name, size_t size, int *program)
{
	struct dirent *item;
	DIR *listing = opendir(pins);
	int error = -ENOENT;

	if (!listing)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", pins);
	while (error == -ENOENT && (item = readdir(listing))) {
		char directory[XB_PATH_MAX];
		int fd;

		if (strncmp(item->d_name, XB_GENERATION_PREFIX, strlen(XB_GENERATION_PREFIX)) ||
		    strlen(item->d_name) >= size)
			continue;
		if (xb_path_join(directory, pins, item->d_name))
			continue;
		fd = xb_pin_open(directory, "program");
		if (fd == -ENOENT)
			continue;
		if (fd < 0) {
			error = fd;
			break;
		}
		if (xb_program_id(fd) != id) {
			close(fd);
			continue;
		}
		strcpy(name, item->d_name);
		*program = fd;
		error = 0;
	}
	closedir(listing);
	return error;
}

int xb_generation_slot_program(const struct xb_anchor *anchor)
{
	uint32_t id = xb_anchor_slot(anchor);
	char name[XB_GENERATION_NAME];
	int program, error;

	if (!id)
		return -ENOENT;
	if (anchor->guard.program >= 0 && xb_program_id(anchor->guard.program) == id) {
		program = fcntl(anchor->guard.program, F_DUPFD_CLOEXEC, 3);
		return program < 0 ? xb_system_error(errno, "cannot duplicate a descriptor")
				   : program;
	}
	error = find_active(anchor->pins, id, name, sizeof(name), &program);
	if (error == -ENOENT)
		return xb_system_error(0, "the filter in force is not pinned in %s", anchor->pins);
	return error ? error : program;
}

/* id: of its program; 0: there is none. */
static int open_by_program(const struct xb_paths *paths, uint32_t id, struct xb_generation **out)
{
	struct xb_generation *generation;
	char directory[XB_PATH_MAX];
	int error;

	*out = NULL;
	if (!id)
		return -ENOENT;
	generation = xb_generation_new();
	if (!generation)
		return -ENOMEM;
	error = find_active(paths->pins, id, generation->name, sizeof(generation->name),
			    &generation->program);
	if (!error)
		error = xb_path_join(directory, paths->pins, generation->name);
	if (!error)
		error = open_pins(directory, generation);
	if (!error) {
		generation->file = open_counters(paths, generation);
		error = generation->file < -1 ? generation->file : xb_generation_map(generation);
	}
	if (error) {
		xb_generation_close(generation);
		return error;
	}
	generation->in_force = true;
	generation->known = generation->params.known ? xb_knownpins_identity(paths->pins) : 0;
	*out = generation;
	return 0;
}

int xb_generation_open(const struct xb_paths *paths, const struct xb_anchor *anchor,
		       struct xb_generation **out)
{
	return open_by_program(paths, xb_anchor_active(anchor), out);
}

int xb_generation_open_tried(const struct xb_paths *paths, const struct xb_anchor *anchor,
			     struct xb_generation **out)
{
	const struct xb_guard *guard = &anchor->guard;
	bool everywhere = guard->program >= 0 && guard->state.everywhere;

	return open_by_program(paths, everywhere ? xb_guard_side(guard, XB_TRIED) : 0, out);
}
