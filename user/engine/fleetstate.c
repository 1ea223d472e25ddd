/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/fleetstate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define NEW	   XB_FLEET_STATE ".new"
#define FILE_BYTES ((size_t)16 << 20) /* at most */

static int open_directory(const struct xb_paths *paths, bool make)
{
	int fd;

	if (make && mkdir(paths->run, 0700) && errno != EEXIST)
		return xb_system_error(errno, "cannot make %s", paths->run);
	fd = open(paths->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT
				       : xb_system_error(errno, "cannot read %s", paths->run);
	return fd;
}

static int write_new(int directory, const json_t *state)
{
	int fd, error;

	/* Members of a group may write to the directory: what stands there under the name goes. */
	unlinkat(directory, NEW, 0);
	fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return xb_system_error(errno, "cannot write " XB_FLEET_STATE);
	error = json_dumpfd(state, fd, JSON_COMPACT);
	close(fd);
	return error ? xb_system_error(0, "cannot write " XB_FLEET_STATE) : 0;
}

/* The file is not made durable: it begins anew with the machine. */
int xb_fleet_state_write(const struct xb_paths *paths, const json_t *state)
{
	int directory = open_directory(paths, true), error;

	if (directory == -ENOENT)
		return xb_system_error(ENOENT, "cannot read %s", paths->run);
	if (directory < 0)
		return directory;
	error = write_new(directory, state);
	if (!error && renameat(directory, NEW, directory, XB_FLEET_STATE))
		error = xb_system_error(errno, "cannot replace " XB_FLEET_STATE);
	close(directory);
	return error;
}

static json_t *read_file(int fd, const char *run, int *error)
{
	struct stat about;
	json_error_t why;
	json_t *state;

	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size > (off_t)FILE_BYTES) {
		*error = xb_system_error(0, "%s/" XB_FLEET_STATE " is not the file of bloomd", run);
		return NULL;
	}
	state = json_loadfd(fd, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(state))
		return state;
	json_decref(state);
	*error = xb_system_error(0, "%s/" XB_FLEET_STATE " is damaged; bloomd replaces it", run);
	return NULL;
}

json_t *xb_fleet_state_read(const struct xb_paths *paths, int *error)
{
	int directory = open_directory(paths, false), fd;
	json_t *state;

	*error = directory < 0 ? directory : 0;
	if (directory < 0)
		return NULL;
	fd = openat(directory, XB_FLEET_STATE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		*error = errno == ENOENT ? -ENOENT
					 : xb_system_error(errno, "cannot read " XB_FLEET_STATE);
	close(directory);
	if (fd < 0)
		return NULL;
	state = read_file(fd, paths->run, error);
	close(fd);
	return state;
}
