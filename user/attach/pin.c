/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpffs: directories, pins, look-ups. */
#include "attach/pin.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/netns.h"
#include "base/program.h"

static int explain_place(const char *directory)
{
	struct xb_netns self = xb_netns_self();
	char enter[XB_NETNS_ENTER];

	if (!xb_netns_hides_sys())
		return xb_system_error(
			0,
			"%s is not on a bpf file system; mount one: mount -t bpf bpf /sys/fs/bpf",
			directory);
	xb_netns_enter(&self, enter);
	return xb_system_error(0,
			       "%s is hidden here, as by `ip netns exec`; use `%s%s` "
			       "instead, for a filter that is pinned here ends with this shell",
			       directory, enter, xb_advice(XB_ADVICE_RUN_THERE));
}

int xb_pin_check_place(const char *directory)
{
	char parent[XB_PATH_MAX];
	struct statfs fs;
	int error = xb_path_parent(parent, directory);

	if (error)
		return error;
	if (statfs(directory, &fs) < 0 && (errno != ENOENT || statfs(parent, &fs) < 0))
		return xb_system_error(errno, "cannot use the pin directory %s", directory);
	return fs.f_type == BPF_FS_MAGIC ? 0 : explain_place(directory);
}

int xb_pin_directory(const char *directory)
{
	int error = xb_pin_check_place(directory);

	if (error)
		return error;
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return xb_system_error(errno, "cannot make the pin directory %s", directory);
	return 0;
}

int xb_pin_subdirectory(const char *pins, const char *name)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, pins, name);

	if (error)
		return error;
	return mkdir(path, 0770) < 0 ? xb_system_error(errno, "cannot make %s", path) : 0;
}

/* A descriptor of a directory of pins, or a negative errno: -ENOENT without a message. */
static int open_directory(const char *pins, const char *below)
{
	char path[XB_PATH_MAX];
	int fd, error = xb_path_join(path, pins, below);

	if (error)
		return error;
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT || errno == ENOTDIR ? -ENOENT
						   : xb_system_error(errno, "cannot open %s", path);
}

int xb_pin(int fd, const char *pins, const char *below, const char *name)
{
	int directory = open_directory(pins, below), error = ENOENT;
	char path[XB_PATH_MAX];

	if (directory >= 0) {
		/* The kernel follows links in the path to a new pin. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", directory, name);
		error = bpf_obj_pin(fd, path) < 0 ||
					fchmodat(directory, name, 0660, AT_SYMLINK_NOFOLLOW) < 0
				? errno
				: 0;
		close(directory);
	} else if (directory != -ENOENT) {
		return directory;
	}
	return error ? xb_system_error(error, "cannot pin %s/%s/%s", pins, below, name) : 0;
}

/* Whether nobody but us, or root, gives names in it, and so below it. */
static bool is_private(const char *pins)
{
	struct stat st;

	return !stat(pins, &st) && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

int xb_pins_open(const char *pins, const char *below, struct xb_pins *out)
{
	*out = (struct xb_pins){.fd = open_directory(pins, below), .pins = pins, .below = below};
	out->trusted = out->fd >= 0 && is_private(pins);
	return out->fd < 0 ? out->fd : 0;
}

void xb_pins_close(struct xb_pins *from)
{
	if (from->fd >= 0)
		close(from->fd);
	from->fd = -1;
}

/* What the name is now, whatever becomes of it. -1 with errno. */
static int get_file(const struct xb_pins *from, const char *name)
{
	int file = openat(from->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd, error;
	char found[32];

	if (file < 0)
		return -1;
	xb_fault("pin-open");
	/* The kernel follows a name, which may have become a link. */
	snprintf(found, sizeof(found), "/proc/self/fd/%d", file);
	fd = bpf_obj_get(found);
	error = errno;
	close(file);
	errno = error;
	return fd;
}

/* By its name, which may be a link from before the directory was ours alone. */
static int get_trusted(const struct xb_pins *from, const char *name)
{
	char path[XB_PATH_MAX];
	struct stat st;

	if (fstatat(from->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", from->pins, from->below, name) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return bpf_obj_get(path);
}

int xb_pins_get(const struct xb_pins *from, const char *name)
{
	int fd = from->trusted ? get_trusted(from, name) : get_file(from, name), error = errno;
	struct stat st;

	if (fd >= 0)
		return fd;
	if (error == ENOENT)
		return -ENOENT;
	if (!fstatat(from->fd, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode))
		return xb_system_error(0, "%s/%s/%s is not a pin of this program", from->pins,
				       from->below, name);
	return xb_system_error(error, "cannot open the pin %s/%s/%s", from->pins, from->below,
			       name);
}

static int ask_map(const struct xb_pins *from, const char *name, int fd, struct bpf_map_info *info)
{
	uint32_t size = sizeof(*info);

	*info = (struct bpf_map_info){0};
	return bpf_obj_get_info_by_fd(fd, info, &size)
		       ? xb_system_error(errno, "cannot ask the kernel about %s/%s/%s", from->pins,
					 from->below, name)
		       : 0;
}

int xb_pins_get_map(const struct xb_pins *from, const char *name, uint32_t type,
		    uint32_t value_bytes)
{
	int fd = xb_pins_get(from, name), error;
	struct bpf_map_info info;

	if (fd < 0)
		return fd;
	error = ask_map(from, name, fd, &info);
	if (!error && (info.type != type || info.value_size != value_bytes)) {
		xb_system_error(0, "%s/%s/%s is not a map of this program", from->pins, from->below,
				name);
		error = -EBADF;
	}
	if (!error)
		return fd;
	close(fd);
	return error;
}

static int read_value(int fd, const struct bpf_map_info *info, void *bytes, uint32_t size)
{
	uint8_t *value = malloc(info->value_size);
	uint32_t first = 0;
	int error;

	if (!value)
		return xb_out_of_memory();
	error = bpf_map_lookup_elem(fd, &first, value)
			? xb_system_error(errno, "cannot read a BPF map")
			: 0;
	memset(bytes, 0, size);
	if (!error)
		memcpy(bytes, value, size < info->value_size ? size : info->value_size);
	free(value);
	return error;
}

int xb_pins_read(const struct xb_pins *from, const char *name, void *bytes, uint32_t size,
		 uint32_t *value_bytes)
{
	int fd = xb_pins_get(from, name), error;
	struct bpf_map_info info;

	if (fd < 0)
		return fd;
	error = ask_map(from, name, fd, &info);
	*value_bytes = info.value_size;
	if (!error)
		error = info.type == BPF_MAP_TYPE_ARRAY && info.key_size == sizeof(uint32_t)
				? read_value(fd, &info, bytes, size)
				: -EBADF;
	close(fd);
	return error;
}

int xb_pin_open(const char *pins, const char *below, const char *name)
{
	struct xb_pins from;
	int fd = xb_pins_open(pins, below, &from);

	if (fd)
		return fd;
	fd = xb_pins_get(&from, name);
	xb_pins_close(&from);
	return fd;
}

int xb_pin_rename(const char *pins, const char *name, const char *below, const char *to)
{
	int from = open_directory(pins, XB_PINS_TOP), directory = open_directory(pins, below);
	int error = from < 0 ? from : directory < 0 ? directory : 0;

	if (!error && renameat(from, name, directory, to) < 0 && errno != ENOENT)
		error = xb_system_error(errno, "cannot rename %s/%s", pins, name);
	if (from >= 0)
		close(from);
	if (directory >= 0)
		close(directory);
	return error == -ENOENT ? 0 : error;
}

void xb_unpin(const char *pins, const char *below, const char *name)
{
	int directory = open_directory(pins, below);

	if (directory < 0)
		return;
	unlinkat(directory, name, 0);
	close(directory);
}

void xb_unpin_directory(const char *pins, const char *below, const char *name)
{
	int directory = open_directory(pins, below), fd;
	struct dirent *item;
	DIR *listing;

	if (directory < 0)
		return;
	fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing && fd >= 0)
		close(fd);
	while (listing && (item = readdir(listing)))
		if (item->d_name[0] != '.')
			unlinkat(fd, item->d_name, 0);
	if (listing)
		closedir(listing);
	/* Without a listing: somebody's link, if it is anything. */
	unlinkat(directory, name, listing ? AT_REMOVEDIR : 0);
	close(directory);
}

int xb_program_ask(int fd, uint32_t *id)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return xb_system_error(errno, "cannot ask the kernel about a program");
	*id = info.id;
	return 0;
}

int xb_program_in(int array, uint32_t cell, uint32_t *id)
{
	*id = 0;
	if (bpf_map_lookup_elem(array, &cell, id) && errno != ENOENT)
		return xb_system_error(errno, "cannot read which filter is in force");
	return 0;
}

uint32_t xb_program_id(int fd)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

uint32_t xb_map_id(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}
