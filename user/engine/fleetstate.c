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

#include "base/directory.h"
#include "base/error.h"
#include "base/writeall.h"

#define NAME_BYTES 32
#define FILE_BYTES ((size_t)16 << 20) /* at most */

static int open_directory(const struct xb_paths *paths, bool make)
{
	int fd, error = make ? xb_directory_make(paths->run) : 0;

	if (error)
		return error;
	fd = open(paths->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT
				       : xb_system_error(errno, "cannot read %s", paths->run);
	return fd;
}

static int write_new(int directory, const char *name, const char *content)
{
	int fd, error;

	unlinkat(directory, name, 0);
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return xb_system_error(errno, "cannot write %s", name);
	error = xb_write_all(fd, content, strlen(content))
			? 0
			: xb_system_error(errno, "cannot write %s", name);
	close(fd);
	return error;
}

/* The file is not made durable: it begins anew with the machine. */
static int replace_file(const struct xb_paths *paths, const char *name, const char *content)
{
	int directory = open_directory(paths, true), error;
	char new[NAME_BYTES];

	if (directory == -ENOENT)
		return xb_system_error(ENOENT, "cannot read %s", paths->run);
	if (directory < 0)
		return directory;
	snprintf(new, sizeof(new), "%s.new", name);
	error = write_new(directory, new, content);
	if (!error && renameat(directory, new, directory, name))
		error = xb_system_error(errno, "cannot replace %s", name);
	close(directory);
	return error;
}

/* By one call of write(): the reports of a large fleet are megabytes. */
static int replace(const struct xb_paths *paths, const char *name, const json_t *content)
{
	char *text = json_dumps(content, JSON_COMPACT);
	int error = text ? replace_file(paths, name, text) : xb_out_of_memory();

	free(text);
	return error;
}

void xb_fleet_state_remove(const struct xb_paths *paths)
{
	int directory = open_directory(paths, false);

	if (directory < 0)
		return;
	unlinkat(directory, XB_FLEET_STATE, 0);
	unlinkat(directory, XB_FLEET_VERIFIED, 0);
	close(directory);
}

static json_t *read_file(int fd, const char *run, const char *name, int *error)
{
	struct stat about;
	json_error_t why;
	json_t *state;

	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size > (off_t)FILE_BYTES) {
		*error = xb_system_error(0, "%s/%s is not the file of bloomd", run, name);
		return NULL;
	}
	state = json_loadfd(fd, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(state))
		return state;
	json_decref(state);
	*error = xb_system_error(0, "%s/%s is damaged; bloomd replaces it", run, name);
	return NULL;
}

static json_t *read_one(const struct xb_paths *paths, const char *name, int *error)
{
	int directory = open_directory(paths, false), fd;
	json_t *state;

	*error = directory < 0 ? directory : 0;
	if (directory < 0)
		return NULL;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		*error = errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", name);
	close(directory);
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
