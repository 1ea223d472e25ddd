/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/runfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/writeall.h"

#define NAME_BYTES 32

static int open_directory(const char *run, bool make)
{
	int fd, error = make ? xb_directory_make(run) : 0;

	if (error)
		return error;
	fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", run);
	return fd;
}

/* By one call of write(): the reports of a large fleet are megabytes. */
static int write_new(int directory, const char *name, const char *text)
{
	int fd, error;

	unlinkat(directory, name, 0);
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return xb_system_error(errno, "cannot write %s", name);
	error = xb_write_all(fd, text, strlen(text))
			? 0
			: xb_system_error(errno, "cannot write %s", name);
	close(fd);
	return error;
}

int xb_runfile_replace(const char *run, const char *name, const char *text)
{
	int directory = open_directory(run, true), error;
	char new[NAME_BYTES];

	if (directory == -ENOENT)
		return xb_system_error(ENOENT, "cannot read %s", run);
	if (directory < 0)
		return directory;
	snprintf(new, sizeof(new), "%s.new", name);
	error = write_new(directory, new, text);
	if (!error && renameat(directory, new, directory, name))
		error = xb_system_error(errno, "cannot replace %s", name);
	close(directory);
	return error;
}

int xb_runfile_open(const char *run, const char *name, size_t most)
{
	int directory = open_directory(run, false), fd;
	struct stat about;

	if (directory < 0)
		return directory;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		fd = errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", name);
	close(directory);
	if (fd < 0 ||
	    (!fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size <= (off_t)most))
		return fd;
	close(fd);
	return xb_system_error(0, "%s/%s is not the file of bloomd", run, name);
}

void xb_runfile_remove(const char *run, const char *name)
{
	int directory = open_directory(run, false);

	if (directory < 0)
		return;
	unlinkat(directory, name, 0);
	close(directory);
}
