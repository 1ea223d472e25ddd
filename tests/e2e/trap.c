/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that must never be loaded; it says so in the file that XB_TRAP names. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void tell(void)
{
	const char *path = getenv("XB_TRAP");
	int fd = path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666) : -1;

	if (fd >= 0)
		close(fd);
}
