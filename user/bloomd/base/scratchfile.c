/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/scratchfile.h"

#include <fcntl.h>
#include <sys/mman.h>

int scratchfile_open(const char *directory, const char *name)
{
	int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return file >= 0 ? file : memfd_create(name, MFD_CLOEXEC);
}
