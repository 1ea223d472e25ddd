/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded: a writer stands still when LMDB has written what makes a transaction count, but shows
 * it to no reader yet. That page goes through a descriptor of its own, which is O_DSYNC. */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
	ssize_t written = syscall(SYS_pwrite64, file, bytes, size, offset);

	if (fcntl(file, F_GETFL) & O_DSYNC)
		raise(SIGSTOP);
	return written;
}
