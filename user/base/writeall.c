/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/writeall.h"

#include <errno.h>
#include <unistd.h>

bool xb_write_all(int fd, const void *bytes, size_t size)
{
	const char *next = bytes;

	while (size) {
		ssize_t wrote = TEMP_FAILURE_RETRY(write(fd, next, size));

		if (!wrote)
			errno = ENOSPC;
		if (wrote <= 0)
			return false;
		next += wrote;
		size -= (size_t)wrote;
	}
	return true;
}
