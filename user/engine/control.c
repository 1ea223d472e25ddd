/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/text.h"

#define PATIENCE 10 /* seconds */

int xb_control_address(const struct xb_paths *paths, struct sockaddr_un *address)
{
	int size;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	size = snprintf(address->sun_path, sizeof(address->sun_path), "%s/" XB_CONTROL_SOCKET,
			paths->run);
	return size < (int)sizeof(address->sun_path)
		       ? 0
		       : xb_system_error(0, "%s is too long for the path of a socket", paths->run);
}

static int open_socket(const struct xb_paths *paths)
{
	struct timeval patience = {.tv_sec = PATIENCE};
	struct sockaddr_un address;
	int fd, error = xb_control_address(paths, &address);

	if (!error)
		error = xb_directory_closed(paths->run);
	if (error && error != -ENOENT)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return xb_system_error(errno, "cannot open a socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = errno;
	close(fd);
	if (error == ENOENT || error == ECONNREFUSED)
		return xb_system_error(0, "bloomd does not run: nobody listens at %s",
				       address.sun_path);
	return xb_system_error(error, "cannot reach bloomd at %s", address.sun_path);
}

static int exchange(int fd, const char *line, char text[XB_CONTROL_LINE])
{
	char out[XB_CONTROL_LINE];
	int size = snprintf(out, sizeof(out), "%s\n", line);
	size_t used = 0;
	ssize_t got = 1;

	if (size >= (int)sizeof(out))
		return xb_input_error("the request is too long");
	if (send(fd, out, (size_t)size, MSG_NOSIGNAL) != size)
		return xb_system_error(errno, "bloomd takes no request");
	while (got > 0 && used < XB_CONTROL_LINE - 1 && !memchr(text, '\n', used)) {
		got = TEMP_FAILURE_RETRY(read(fd, text + used, XB_CONTROL_LINE - 1 - used));
		used += got > 0 ? (size_t)got : 0;
	}
	text[used] = '\0';
	text[strcspn(text, "\n")] = '\0';
	xb_utf8_clean(text);
	return used ? 0 : xb_system_error(got < 0 ? errno : 0, "bloomd does not answer");
}

/* Returns 0, or the errno of connect(). */
static int connect_once(const struct xb_paths *paths)
{
	struct sockaddr_un address;
	int fd = xb_control_address(paths, &address) || xb_directory_closed(paths->run)
			 ? -1
			 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = ENOENT;

	if (fd < 0)
		return error;
	error = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	close(fd);
	return error;
}

bool xb_control_is_there(const struct xb_paths *paths)
{
	return !connect_once(paths);
}

/* A link that systemd keeps while the unit is active; it leads nowhere. */
#define TIMER "/run/systemd/units/invocation:xdp-bloom-expire.timer"

bool xb_control_may_be_there(const struct xb_paths *paths)
{
	int error = connect_once(paths);

	return !error || error == EACCES;
}

bool xb_control_expiry_is_tended(const struct xb_paths *paths)
{
	struct stat st;

	return xb_control_may_be_there(paths) || !lstat(TIMER, &st);
}

int xb_control_ask(const struct xb_paths *paths, const char *line, char reply[XB_CONTROL_LINE])
{
	char text[XB_CONTROL_LINE];
	int fd = open_socket(paths), error;

	if (fd < 0)
		return fd;
	error = exchange(fd, line, text);
	close(fd);
	if (error)
		return error;
	if (!strncmp(text, "ok ", 3)) {
		strcpy(reply, text + 3);
		return 0;
	}
	if (!strncmp(text, "refused ", 8))
		return xb_input_error("%s", text + 8);
	return xb_system_error(0, "bloomd answers '%s'", XB_SHOW(text));
}
