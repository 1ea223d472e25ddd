/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t xb_procfile_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	ssize_t got;

	*text = '\0';
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	error = errno;
	close(fd);
	errno = error;
	text[got < 0 ? 0 : got] = '\0';
	return got;
}

uint64_t xb_pid_namespace(void)
{
	/* A process stays in its own for life. */
	static struct {
		pid_t of;
		uint64_t inode;
	} known;
	struct stat ours;

	if (known.of == getpid())
		return known.inode;
	if (stat("/proc/self/ns/pid", &ours))
		return 0;
	known.of = getpid();
	return known.inode = ours.st_ino;
}
