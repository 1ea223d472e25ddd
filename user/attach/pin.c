/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpffs: directories, pins, look-ups. */
#include "attach/pin.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
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

int xb_pin_subdirectory(const char *path)
{
	return mkdir(path, 0770) < 0 ? xb_system_error(errno, "cannot make %s", path) : 0;
}

int xb_pin(int fd, const char *directory, const char *name)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, directory, name);

	if (error)
		return error;
	if (bpf_obj_pin(fd, path) < 0 || fchmodat(AT_FDCWD, path, 0660, AT_SYMLINK_NOFOLLOW) < 0)
		return xb_system_error(errno, "cannot pin %s", path);
	return 0;
}

/* The file of a pin, with O_PATH, or a negative errno: -ENOENT without a message. */
static int find_pin(const char *path)
{
	int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (file < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? -ENOENT
			       : xb_system_error(errno, "cannot open the pin %s", path);
	if (!fstat(file, &st) && S_ISREG(st.st_mode))
		return file;
	close(file);
	return xb_system_error(0, "%s is not a pin of this program", path);
}

int xb_pin_open(const char *directory, const char *name)
{
	char path[XB_PATH_MAX], found[32];
	int error = xb_path_join(path, directory, name), file, fd;

	if (error)
		return error;
	file = find_pin(path);
	if (file < 0)
		return file;
	xb_fault("pin-open");
	/* The kernel follows a name, which may have become a link. */
	snprintf(found, sizeof(found), "/proc/self/fd/%d", file);
	fd = bpf_obj_get(found);
	error = errno;
	close(file);
	return fd < 0 ? xb_system_error(error, "cannot open the pin %s", path) : fd;
}

int xb_pin_open_map(const char *directory, const char *name, uint32_t type, uint32_t value_bytes)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	int fd = xb_pin_open(directory, name);

	if (fd < 0)
		return fd;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == type &&
	    info.value_size == value_bytes)
		return fd;
	close(fd);
	xb_system_error(0, "%s/%s is not a map of this program", directory, name);
	return -EBADF;
}

void xb_unpin(const char *directory, const char *name)
{
	char path[XB_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) < XB_PATH_MAX)
		unlink(path);
}

void xb_unpin_directory(const char *directory, const char *name)
{
	char path[XB_PATH_MAX];
	struct dirent *item;
	DIR *listing;
	int fd;

	if (xb_path_join(path, directory, name))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing) {
		if (fd >= 0)
			close(fd);
		unlink(path); /* somebody's link, if it is anything */
		return;
	}
	while ((item = readdir(listing)))
		if (item->d_name[0] != '.')
			unlinkat(fd, item->d_name, 0);
	closedir(listing);
	rmdir(path);
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
