/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/scratchfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int scratchfile_open(const char *directory, const char *name)
{
	int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return file >= 0 ? file : memfd_create(name, MFD_CLOEXEC);
}

bool scratchfile_append(int file, const void *bytes, size_t size)
{
	const char *next = bytes;

	while (size) {
		ssize_t put = TEMP_FAILURE_RETRY(write(file, next, size));

		if (!put)
			errno = ENOSPC;
		if (put <= 0)
			return false;
		next += put;
		size -= (size_t)put;
	}
	return true;
}
