/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"

int xb_directory_make(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return xb_system_error(errno, "cannot make the run directory %s", path);
	return 0;
}

int xb_directory_closed(const char *path)
{
	struct stat about;

	if (stat(path, &about))
		return xb_system_error(errno, "cannot look at %s", path);
	if (about.st_uid && about.st_uid != geteuid())
		return xb_system_error(0,
				       "%s has to belong to root or to the user who runs this, "
				       "because its owner can replace the sockets in it",
				       path);
	if (about.st_mode & (S_IWGRP | S_IWOTH))
		return xb_system_error(0,
				       "%s is writable for others than its owner, who can replace "
				       "the sockets in it: chmod go-w %s",
				       path, path);
	return 0;
}

int xb_directory_below(const char *directory, const char *name)
{
	char path[XB_PATH_MAX];
	int fd, error = xb_path_join(path, directory, name);

	if (error) {
		xb_error_clear();
		return error;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int xb_directory_shared(const char *run, const char *name)
{
	char path[XB_PATH_MAX];
	int fd, error = xb_path_join(path, run, name);

	if (!error)
		error = xb_directory_make(run);
	if (error)
		return error;
	if (mkdir(path, 0770) && errno != EEXIST)
		return xb_system_error(errno, "cannot make %s", path);
	fd = xb_directory_below(run, name);
	return fd < 0 ? xb_system_error(-fd, "cannot use %s", path) : fd;
}
