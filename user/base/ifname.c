/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of names and numbers. */
#include "base/ifname.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

/* libc's functions for this tell of a missing socket as of a missing file. */
static int ask(unsigned long what, struct ifreq *request)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	error = ioctl(fd, what, request) < 0 ? -errno : 0;
	close(fd);
	return error;
}

int xb_ifindex(const char *name, uint32_t *ifindex)
{
	struct ifreq request = {0};
	int error;

	*ifindex = 0;
	/* The kernel cuts the label of an address, "lo:1", to the name of its interface. */
	if (strlen(name) >= sizeof(request.ifr_name) || strchr(name, ':'))
		return 0;
	strcpy(request.ifr_name, name);
	error = ask(SIOCGIFINDEX, &request);
	if (error && error != -ENODEV)
		return xb_system_error(-error, "%s: cannot look for the interface", name);
	*ifindex = error ? 0 : (uint32_t)request.ifr_ifindex;
	return 0;
}

int xb_ifname(uint32_t ifindex, char name[IF_NAMESIZE])
{
	struct ifreq request = {.ifr_ifindex = (int)ifindex};
	int error = ask(SIOCGIFNAME, &request);

	name[0] = '\0';
	if (error && error != -ENODEV)
		return xb_system_error(-error, "cannot look for interface %u", ifindex);
	if (!error)
		memcpy(name, request.ifr_name, IF_NAMESIZE);
	return 0;
}
