/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libc says, and what it leaves in errno. */
#include "ifname.h"

#include <errno.h>

#include "error.h"

int xb_ifindex(const char *name, uint32_t *ifindex)
{
	*ifindex = if_nametoindex(name);
	return *ifindex || errno == ENODEV
		       ? 0
		       : xb_system_error(errno, "%s: cannot look for the interface", name);
}

int xb_ifname(uint32_t ifindex, char name[IF_NAMESIZE])
{
	if (if_indextoname(ifindex, name))
		return 0;
	name[0] = '\0';
	return errno == ENXIO ? 0 : xb_system_error(errno, "cannot look for interface %u", ifindex);
}
