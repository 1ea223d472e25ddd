/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capget(2). CAP_SYS_ADMIN stands for CAP_BPF, CAP_PERFMON and, to load, CAP_NET_ADMIN. */
#include "base/capability.h"

#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

static uint64_t effective(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	syscall(SYS_capget, &header, data);
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool xb_capability_by_id(void)
{
	return effective() >> CAP_SYS_ADMIN & 1;
}

void xb_capabilities_missing(char *names, size_t size)
{
	static const struct {
		int number;
		const char *name;
	} needed[] = {{CAP_BPF, "CAP_BPF"},
		      {CAP_NET_ADMIN, "CAP_NET_ADMIN"},
		      {CAP_PERFMON, "CAP_PERFMON"}};
	uint64_t have = effective();
	size_t used = 0;

	names[0] = '\0';
	if (have >> CAP_SYS_ADMIN & 1)
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!(have >> needed[i].number & 1) && used < size)
			used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " " : "",
						 needed[i].name);
}

int xb_capabilities_need(void)
{
	char missing[64];

	xb_capabilities_missing(missing, sizeof(missing));
	if (!missing[0])
		return 0;
	return xb_system_error(
		0, "this takes privileges that are missing: %s; run as root, or grant them",
		missing);
}
