/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process gets from whoever starts it. */
#include "bloomctl/inherited.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapfault.h"
#include "base/memory.h"
#include "bloomctl/cli.h"

/* A closed one would be taken by the next file that is opened, and answers would go into the store.
 * The wrong way round: whoever reads or writes it gets an error. */
static void fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_FAILURE);
}

void inherited_settle(void)
{
	fill_descriptors();
	umask(0007); /* the directory says who; see docs/security.md */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	xb_mapfault_watch(EXIT_SYSTEM);
	xb_memory_bound();
}
