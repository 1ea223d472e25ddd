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

/* Without a message: -ESTALE if they are an older version's, -ENOENT if they are lost. */
static int read_params(const struct xb_pins *from, struct xb_params *params)
{
	uint32_t bytes = 0;
	int error = xb_pins_read(from, "params", params, sizeof(*params), &bytes);

	if (error && error != -EBADF)
		return error;
	if (error || bytes < XB_PARAMS_LEAST || params->layout < XB_GENERATION_LAYOUT)
		return -ESTALE;
	if (params->layout > XB_GENERATION_LAYOUT)
		return xb_anchor_refuse_newer(from->pins, "filter layout", params->layout,
					      XB_GENERATION_LAYOUT);
	return bytes == sizeof(*params) && xb_params_are_sound(params) ? 0 : -ENOENT;
}

/* -ENOENT without a message: there is none like it. */
static int read_name_key(const struct xb_pins *from, struct xb_generation *generation)
{
	uint32_t bytes = 0;
	int error = xb_pins_read(from, "name_key", &generation->name_key,
				 sizeof(generation->name_key), &bytes);

	return error == -EBADF || (!error && bytes != sizeof(generation->name_key)) ? -ENOENT
										    : error;
}

static int open_pins(const struct xb_pins *from, struct xb_generation *generation)
{
	struct xb_params *params = &generation->params;
	int error = read_params(from, params);

	if (error)
		return error;
	if (xb_params_hash_names(params))
		error = read_name_key(from, generation);
	for (enum xb_map map = 0; !error && map < XB_MAPS; map++) {
		if (!xb_map_entries(map, params))
			continue;
		generation->map[map] = xb_pins_get(from, xb_map_name(map));
		if (generation->map[map] < 0)
			error = generation->map[map];
		else if (!xb_map_is(generation->map[map], map, params))
			error = -ENOENT;
	}
	return error;
}

/* -ENOENT without a message: it is another one. */
static int check_program(int fd, uint32_t id)
{
	uint32_t found = 0;
	int error = xb_program_ask(fd, &found);

	return error ? error : found == id ? 0 : -ENOENT;
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
		int fd;

		if (strncmp(item->d_name, XB_GENERATION_PREFIX, strlen(XB_GENERATION_PREFIX)) ||
		    strlen(item->d_name) >= size)
			continue;
		fd = xb_pin_open(pins, item->d_name, "program");
		if (fd == -ENOENT)
			continue;
		if (fd < 0) {
			error = fd;
			break;
		}
		error = check_program(fd, id);
		if (error) {
			close(fd);
			continue;
		}
		strcpy(name, item->d_name);
		*program = fd;
	}
	closedir(listing);
	return error;
}

int xb_generation_slot_program(const struct xb_anchor *anchor)
{
	char name[XB_GENERATION_NAME];
	uint32_t id;
	int program, error = xb_anchor_slot(anchor, &id);

	if (error)
		return error;
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
	struct xb_pins from;
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
		error = xb_pins_open(paths->pins, generation->name, &from);
	if (!error) {
		error = open_pins(&from, generation);
		xb_pins_close(&from);
	}
	if (!error) {
		generation->file = open_counters(paths, generation);
		error = generation->file < -1 ? generation->file : xb_generation_map(generation);
	}
	if (error) {
		xb_generation_close(generation);
		return error;
	}
	generation->in_force = true;
	xb_generation_note_known(paths, generation);
	*out = generation;
	return 0;
}

int xb_generation_open(const struct xb_paths *paths, const struct xb_anchor *anchor,
		       struct xb_generation **out)
{
	uint32_t id;
	int error = xb_anchor_active(anchor, &id);

	*out = NULL;
	return error ? error : open_by_program(paths, id, out);
}

int xb_generation_open_tried(const struct xb_paths *paths, const struct xb_anchor *anchor,
			     struct xb_generation **out)
{
	const struct xb_guard *guard = &anchor->guard;
	bool everywhere = guard->program >= 0 && guard->state.everywhere;
	uint32_t id = 0;
	int error = everywhere ? xb_guard_side(guard, XB_TRIED, &id) : 0;

	*out = NULL;
	if (!error)
		error = open_by_program(paths, id, out);
	return error == -ESTALE ? -ENOENT : error;
}

int xb_generation_refuse_newer(const struct xb_anchor *anchor)
{
	char name[XB_GENERATION_NAME];
	struct xb_params params;
	struct xb_pins from;
	uint32_t id;
	int program = -1, error = xb_anchor_active(anchor, &id);

	if (!error)
		error = id ? find_active(anchor->pins, id, name, sizeof(name), &program) : -ENOENT;
	if (error)
		return error == -ENOENT ? 0 : error;
	close(program);
	error = xb_pins_open(anchor->pins, name, &from);
	if (!error) {
		error = read_params(&from, &params);
		xb_pins_close(&from);
	}
	return error == -ESTALE || error == -ENOENT ? 0 : error;
}
