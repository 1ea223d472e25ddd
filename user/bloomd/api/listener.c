/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/listener.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"

static int make_address(const char *directory, const char *name, struct sockaddr_un *address)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, directory, name);

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (error)
		return error;
	if (strlen(path) >= sizeof(address->sun_path))
		return xb_input_error("%s: the path of a socket has at most %zu bytes", path,
				      sizeof(address->sun_path) - 1);
	memcpy(address->sun_path, path, strlen(path));
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

static int find_group(const char *directory, const char *group, gid_t *id)
{
	struct stat status;

	if (group)
		return listener_group(group, id);
	if (stat(directory, &status))
		return xb_system_error(errno, "cannot look at %s", directory);
	*id = status.st_gid;
	return 0;
}

int listener_admit(const char *directory, const char *name, unsigned int mode, const char *group)
{
	struct sockaddr_un address;
	gid_t id = (gid_t)-1;
	int error = make_address(directory, name, &address);

	if (!error)
		error = find_group(directory, group, &id);
	if (error)
		return error;
	if (chown(address.sun_path, (uid_t)-1, id) || chmod(address.sun_path, mode))
		return xb_system_error(errno, "cannot set who may use %s", address.sun_path);
	return 0;
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

/* Nobody can connect before it is known who may. */
static int bind_closed(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0777);
	int error = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;

	umask(before);
	return error ? xb_system_error(error, "cannot make %s", address->sun_path) : 0;
}

int listener_open(const char *directory, const char *name, unsigned int mode, const char *group)
{
	struct sockaddr_un address;
	int error = make_address(directory, name, &address), fd = -1;

	if (!error)
		error = clear_place(&address);
	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return xb_system_error(errno, "cannot make a socket");
	error = bind_closed(fd, &address);
	if (!error)
		error = listener_admit(directory, name, mode, group);
	if (!error && listen(fd, LISTENER_BACKLOG))
		error = xb_system_error(errno, "cannot listen on %s", address.sun_path);
	if (!error)
		return fd;
	close(fd);
	return error;
}

void listener_close(int fd, const char *directory, const char *name)
{
	struct sockaddr_un address;

	if (fd < 0)
		return;
	if (!make_address(directory, name, &address))
		unlink(address.sun_path);
	close(fd);
}
