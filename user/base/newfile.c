/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define TRIES	  100
#define MODE_BITS 07777

static int fail(const struct xb_newfile *file)
{
	return xb_system_error(errno, "cannot write %s", file->path);
}

/* The folder of the target, with its slash. */
static int folder_bytes(const char *target)
{
	return (int)(strrchr(target, '/') + 1 - target);
}

static char *name_aside(const char *target)
{
	uint64_t number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number) ||
	    asprintf(&name, "%.*s.xdp-bloom-%016" PRIx64, folder_bytes(target), target, number) < 0)
		return NULL;
	return name;
}

/* Where it cannot be without a name. Another one may have the same by chance. */
static int open_named(struct xb_newfile *file, mode_t mode)
{
	for (int i = 0; i < TRIES; i++) {
		free(file->aside);
		file->aside = name_aside(file->target);
		if (!file->aside)
			return xb_out_of_memory();
		file->fd = open(file->aside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
		if (file->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(file->aside);
	file->aside = NULL;
	return xb_system_error(errno, "cannot create a file beside %s", file->path);
}

static int open_aside(struct xb_newfile *file, mode_t mode)
{
	char *folder = strndup(file->target, (size_t)folder_bytes(file->target));

	if (!folder)
		return xb_out_of_memory();
	file->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	free(folder);
	if (file->fd >= 0)
		return 0;
	if (errno == EOPNOTSUPP || errno == EISDIR)
		return open_named(file, mode);
	return xb_system_error(errno, "cannot create a file beside %s", file->path);
}

/* The path with a folder in front, and links followed if it is there. */
static char *whole_path(const char *path)
{
	char *whole = realpath(path, NULL);

	if (!whole && asprintf(&whole, "%s%s", strchr(path, '/') ? "" : "./", path) < 0)
		return NULL;
	return whole;
}

int xb_newfile_open(struct xb_newfile *file, const char *path)
{
	struct stat former;
	bool is_new = stat(path, &former) < 0;
	int error;

	*file = (struct xb_newfile){.fd = -1, .path = path};
	if (is_new && errno != ENOENT)
		return fail(file);
	file->target = whole_path(path);
	if (!file->target)
		return xb_out_of_memory();
	error = open_aside(file, is_new ? 0666 : former.st_mode & 0666);
	if (!error && !is_new && fchmod(file->fd, former.st_mode & MODE_BITS))
		error = fail(file);
	return error;
}

/* A name aside for one that has none, unless the final one is free. */
static int give_name(struct xb_newfile *file, bool *done)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", file->fd);
	*done = !linkat(AT_FDCWD, from, AT_FDCWD, file->target, AT_SYMLINK_FOLLOW);
	for (int i = 0; !*done && i < TRIES && errno == EEXIST; i++) {
		free(file->aside);
		file->aside = name_aside(file->target);
		if (!file->aside)
			return xb_out_of_memory();
		if (!linkat(AT_FDCWD, from, AT_FDCWD, file->aside, AT_SYMLINK_FOLLOW))
			return 0;
	}
	if (*done)
		return 0;
	free(file->aside);
	file->aside = NULL;
	return fail(file);
}

static int sync_folder(const struct xb_newfile *file)
{
	char *folder = strndup(file->target, (size_t)folder_bytes(file->target));
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, error = 0;

	/* A file system that cannot sync directories has its own order. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		error = xb_system_error(errno, "cannot sync the directory of %s", file->path);
	if (fd >= 0)
		close(fd);
	free(folder);
	return error;
}

int xb_newfile_finish(struct xb_newfile *file)
{
	bool done = false;
	int error = fsync(file->fd) ? fail(file) : 0;

	if (!error && !file->aside)
		error = give_name(file, &done);
	if (!error && !done && rename(file->aside, file->target))
		error = fail(file);
	if (error)
		return error;
	free(file->aside);
	file->aside = NULL;
	return sync_folder(file);
}

void xb_newfile_close(struct xb_newfile *file)
{
	if (file->aside)
		unlink(file->aside);
	if (file->fd >= 0)
		close(file->fd);
	free(file->aside);
	free(file->target);
	*file = (struct xb_newfile){.fd = -1};
}
