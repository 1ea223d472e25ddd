/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/patience.h"
#include "base/program.h"
#include "cli/cli.h"
#include "cli/crash.h"

/* A closed one would be taken by the next file that is opened, and answers would go into the store.
 * The wrong way round: whoever reads or writes it gets an error. */
static void fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_FAILURE);
}

static void ignore(int number)
{
	(void)number;
}

/* Every second, whatever was blocked or ignored before. */
static void wake_up(bool wake)
{
	const struct itimerval every = {.it_value.tv_sec = wake, .it_interval.tv_sec = wake};
	const struct sigaction action = {.sa_handler = wake ? ignore : SIG_DFL};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (!wake)
		setitimer(ITIMER_REAL, &every, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	if (wake)
		setitimer(ITIMER_REAL, &every, NULL);
}

void process_settle(void)
{
	fill_descriptors();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	crash_watch(EXIT_SYSTEM);
	xb_wait_waker(wake_up);
	xb_memory_bound_soon();
}

#define STACK (64 << 10) /* bytes that are enough for each verb; LMDB takes most of them */

int process_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK)
		return 0;
	limit.rlim_cur = STACK;
	if (limit.rlim_max < STACK)
		limit.rlim_max = STACK;
	if (!setrlimit(RLIMIT_STACK, &limit))
		return 0;
	return xb_system_error(0, "the stack may not grow to %d KiB, which %s needs (ulimit -s)",
			       STACK >> 10, xb_program());
}
