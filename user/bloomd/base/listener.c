/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sockios.h>
#include <linux/un.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/paths.h"
#include "base/text.h"

static int make_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path))
		return xb_input_error("%s: the path of a socket has at most %zu bytes", path,
				      sizeof(address->sun_path) - 1);
	strcpy(address->sun_path, path);
	return 0;
}

int listener_group(const char *group, gid_t *id)
{
	const struct group *found = getgrnam(group);
	char *end;

	*id = found ? found->gr_gid : (gid_t)strtoul(group, &end, 10);
	if (found || (*group >= '0' && *group <= '9' && !*end))
		return 0;
	return xb_input_error("there is no group '%s'", XB_SHOW(group));
}

static int find_group(const char *path, const char *group, gid_t *id)
{
	char directory[XB_PATH_MAX];
	struct stat status;
	int error;

	if (group)
		return listener_group(group, id);
	error = xb_path_parent(directory, path);
	if (error)
		return error;
	if (stat(directory, &status))
		return xb_system_error(errno, "cannot look at %s", directory);
	*id = status.st_gid;
	return 0;
}

/* Returns 0 or a negative errno. file: the file of a socket, opened with O_PATH. */
static int set_modes(int file, unsigned int mode, gid_t group)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return fchownat(file, "", (uid_t)-1, group, AT_EMPTY_PATH) || chmod(path, mode) ? -errno
											: 0;
}

int listener_admit(int fd, const char *path, unsigned int mode, const char *group)
{
	gid_t id = (gid_t)-1;
	int error = find_group(path, group, &id), file;

	if (error)
		return error;
	xb_fault("listener-admit");
	file = ioctl(fd, SIOCUNIXFILE, 0);
	error = file < 0 ? -errno : set_modes(file, mode, id);
	if (file >= 0)
		close(file);
	return error ? xb_system_error(-error, "cannot set who may use %s", path) : 0;
}

/* A process of a bloomd that was killed listens for a moment longer, though it has given the lock
 * back. */
#define LISTENER_TRIES 250
#define LISTENER_PAUSE 20000 /* us */

/* Whether a process accepts connections there. */
static bool is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive = fd >= 0 && (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) ||
				 errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return alive;
}

static bool stays_alive(const struct sockaddr_un *address)
{
	bool alive = is_alive(address);

	for (int i = 1; alive && i < LISTENER_TRIES; i++) {
		usleep(LISTENER_PAUSE);
		alive = is_alive(address);
	}
	return alive;
}

static int clear_place(const struct sockaddr_un *address)
{
	struct stat status;

	if (lstat(address->sun_path, &status))
		return errno == ENOENT
			       ? 0
			       : xb_system_error(errno, "cannot look at %s", address->sun_path);
	if (!S_ISSOCK(status.st_mode))
		return xb_system_error(0, "%s is there, and is no socket", address->sun_path);
	if (stays_alive(address))
		return xb_system_error(0, "another process listens on %s", address->sun_path);
	if (unlink(address->sun_path))
		return xb_system_error(errno, "cannot replace %s", address->sun_path);
	return 0;
}

/* The file of the socket gets the mode of the descriptor. */
static int bind_and_listen(int fd, const struct sockaddr_un *address, unsigned int mode)
{
	mode_t before;
	int error;

	if (fchmod(fd, mode))
		return xb_system_error(errno, "cannot make %s", address->sun_path);
	before = umask(0);
	error = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	umask(before);
	if (error)
		return xb_system_error(error, "cannot make %s", address->sun_path);
	return listen(fd, LISTENER_BACKLOG)
		       ? xb_system_error(errno, "cannot listen on %s", address->sun_path)
		       : 0;
}

static int check_directory(const char *path)
{
	char directory[XB_PATH_MAX];
	int error = xb_path_parent(directory, path);

	return error ? error : xb_directory_closed(directory);
}

int listener_bind(const char *path, unsigned int mode)
{
	struct sockaddr_un address;
	int fd, error = make_address(path, &address);

	if (!error)
		error = check_directory(path);
	if (!error)
		error = clear_place(&address);
	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return xb_system_error(errno, "cannot make a socket");
	error = bind_and_listen(fd, &address, mode);
	if (!error)
		return fd;
	close(fd);
	return error;
}

int listener_open(const char *path, unsigned int mode, const char *group)
{
	int fd = listener_bind(path, 0), error;

	if (fd < 0)
		return fd;
	error = listener_admit(fd, path, mode, group);
	if (!error)
		return fd;
	listener_close(fd, path);
	return error;
}

void listener_close(int fd, const char *path)
{
	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}
