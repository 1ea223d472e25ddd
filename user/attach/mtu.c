/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/mtu.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

static int ask(unsigned long what, const char *name, struct ifreq *request)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	memcpy(request->ifr_name, name, strnlen(name, sizeof(request->ifr_name) - 1));
	error = ioctl(fd, what, request) < 0 ? -errno : 0;
	close(fd);
	return error;
}

int xb_mtu_get(const char *name)
{
	struct ifreq request = {0};

	return ask(SIOCGIFMTU, name, &request) ? 0 : request.ifr_mtu;
}

int xb_mtu_set(const char *name, int mtu)
{
	struct ifreq request = {.ifr_mtu = mtu};
	int error = ask(SIOCSIFMTU, name, &request);

	return error ? xb_system_error(-error, "%s: cannot set the MTU to %d", name, mtu) : 0;
}
