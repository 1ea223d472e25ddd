/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No link is followed: not a symbolic one, and not a hard one to a file of somebody else. */
#include "base/plainfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool is_plain(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1;
}

static int refuse(const char *path)
{
	return xb_system_error(0, "%s is a link or not a regular file: remove it", path);
}

int xb_plainfile_open(const char *path)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(path, O_RDWR | O_CREAT | flags, 0660);
	struct stat st;

	if (fd < 0 && errno == EROFS) {
		fd = open(path, O_RDONLY | flags);
		if (fd < 0 && errno == ENOENT)
			errno = EROFS;
	}
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO || errno == EISDIR
			       ? refuse(path)
			       : xb_system_error(errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0 || !is_plain(&st)) {
		close(fd);
		return refuse(path);
	}
	return fd;
}

int xb_plainfile_check(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !is_plain(&st) ? refuse(path) : 0;
}

bool xb_plainfile_is(const char *path, int fd)
{
	struct stat ours, theirs;

	return !fstat(fd, &ours) && !lstat(path, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}
