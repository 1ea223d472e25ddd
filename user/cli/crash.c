/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/crash.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mapfault.h"

static int exit_code;
static void (*before_end)(void);

static void end(const char *message)
{
	if (before_end)
		before_end();
	/* Nobody is left to be told that it cannot be told. */
	if (write(STDERR_FILENO, message, strlen(message)) < 0)
		_exit(exit_code);
	_exit(exit_code);
}

/* A fault elsewhere is not the file's; the default action, which is back, takes it. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	const char *message = xb_mapfault_message(number, info);

	(void)context;
	if (message)
		end(message);
}

void crash_watch(int code)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESETHAND};

	exit_code = code;
	xb_mapfault_set_end(end);
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
}

void crash_before_end(void (*undo)(void))
{
	before_end = undo;
}
