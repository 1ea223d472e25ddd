/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters to files: never half under the final name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/newfile.h"
#include "base/writeall.h"
#include "bloom/filterfile.h"

static int write_all(int fd, const char *name, const void *bytes, size_t size)
{
	return xb_write_all(fd, bytes, size) ? 0 : xb_system_error(errno, "cannot write %s", name);
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

static int write_beside(const struct xb_filter *filter, const char *path)
{
	struct xb_newfile file;
	int error = xb_newfile_open(&file, path);

	if (!error)
		error = xb_filter_write_fd(filter, file.fd, path);
	if (!error)
		error = xb_newfile_finish(&file);
	xb_newfile_close(&file);
	return error;
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

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_directly(filter, path);
	return write_beside(filter, path);
}
