/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters to files: never half under the final name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "bloom/filterfile.h"

static int write_all(int fd, const char *name, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t wrote = write(fd, at, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return xb_system_error(errno, "cannot write %s", name);
		at += wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

/* The counters stand right behind the bits. */
static uint64_t mapped_bytes(const struct xb_filter_info *info)
{
	return xb_filter_bits_bytes(info) + xb_filter_counters_bytes(info);
}

static struct xb_filter_header header_of(const struct xb_filter *filter)
{
	const struct xb_filter_info *info = &filter->info;
	struct xb_filter_header header = {
		.version = XB_FILTER_VERSION,
		.kind = info->kind,
		.funnel = info->funnel,
		.form = info->form,
		.counting = info->counting,
		.hashes = info->hashes,
		.bits = info->bits,
		.expected = info->expected,
		.insertions = info->insertions,
		.rate = info->rate,
		.key = info->key,
		.slots = filter->fingerprints.slots,
	};

	memcpy(header.magic, XB_FILTER_MAGIC, sizeof(header.magic));
	header.body_sum = xb_filter_body_sum(0, filter->bits, mapped_bytes(info));
	header.body_sum = xb_filter_body_sum(header.body_sum, filter->fingerprints.slot,
					     filter->fingerprints.slots * 8);
	header.header_sum = xb_filter_header_sum(&header);
	return header;
}

int xb_filter_write_fd(const struct xb_filter *filter, int fd, const char *name)
{
	const struct xb_filter_info *info = &filter->info;
	uint8_t guava[XB_GUAVA_HEADER];
	int error;

	if (xb_filter_is_guava(info->kind)) {
		xb_guava_header_write(info, guava);
		error = write_all(fd, name, guava, sizeof(guava));
	} else {
		struct xb_filter_header header = header_of(filter);

		error = write_all(fd, name, &header, sizeof(header));
	}
	if (!error)
		error = write_all(fd, name, filter->bits, mapped_bytes(info));
	return error ? error
		     : write_all(fd, name, filter->fingerprints.slot,
				 filter->fingerprints.slots * 8);
}

static int sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, error = 0;

	/* A file system that cannot sync directories has its own order. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		error = xb_system_error(errno, "cannot sync the directory of %s", path);
	if (fd >= 0)
		close(fd);
	free(directory);
	return error;
}

/* The permissions of the file that is replaced, or of a new one. */
static mode_t mode_of(const struct stat *former)
{
	mode_t mask;

	if (former)
		return former->st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int write_beside(const struct xb_filter *filter, const char *path, const struct stat *former)
{
	char *staged;
	int fd, error;

	if (asprintf(&staged, "%s.XXXXXX", path) < 0)
		return xb_out_of_memory();
	fd = mkostemp(staged, O_CLOEXEC);
	if (fd < 0) {
		error = xb_system_error(errno, "cannot create a file beside %s", path);
		free(staged);
		return error;
	}
	error = xb_filter_write_fd(filter, fd, path);
	if (!error && (fchmod(fd, mode_of(former)) < 0 || fsync(fd) < 0))
		error = xb_system_error(errno, "cannot write %s", path);
	if (close(fd) < 0 && !error)
		error = xb_system_error(errno, "cannot write %s", path);
	if (!error && rename(staged, path) < 0)
		error = xb_system_error(errno, "cannot rename a file to %s", path);
	if (error)
		unlink(staged);
	free(staged);
	return error ? error : sync_directory(path);
}

static int write_directly(const struct xb_filter *filter, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;

	if (fd < 0)
		return xb_system_error(errno, "cannot open %s", path);
	error = xb_filter_write_fd(filter, fd, path);
	if (close(fd) < 0 && !error)
		error = xb_system_error(errno, "cannot write %s", path);
	return error;
}

int xb_filter_write(const struct xb_filter *filter, const char *path)
{
	struct stat st;
	char *target;
	int error;

	if (stat(path, &st) < 0)
		return write_beside(filter, path, NULL);
	if (!S_ISREG(st.st_mode))
		return write_directly(filter, path);
	/* What a link points to is replaced, and the link stays. */
	target = realpath(path, NULL);
	if (!target)
		return xb_system_error(errno, "cannot find %s", path);
	error = write_beside(filter, target, &st);
	free(target);
	return error;
}
