/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sandbox/beforehand.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_private(const struct stat *about)
{
	return !(about->st_mode & (S_IRWXG | S_IRWXO)) &&
	       (!about->st_uid || about->st_uid == geteuid());
}

static ssize_t read_file(const char *path, void *out, size_t room, bool private)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	errno = EINVAL;
	if (fstat(fd, &about) || !S_ISREG(about.st_mode))
		;
	else if (private && !is_private(&about))
		errno = EPERM;
	else
		got = read(fd, out, room);
	close(fd);
	return got;
}

ssize_t beforehand_read(const char *path, void *out, size_t room)
{
	return read_file(path, out, room, false);
}

ssize_t beforehand_read_private(const char *path, void *out, size_t room)
{
	return read_file(path, out, room, true);
}

int beforehand_connect(const char path[BEFOREHAND_SOCKET], uint32_t seconds)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval most = {.tv_sec = seconds};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	_Static_assert(sizeof(address.sun_path) == BEFOREHAND_SOCKET, "a path fits");
	memcpy(address.sun_path, path, BEFOREHAND_SOCKET);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}
