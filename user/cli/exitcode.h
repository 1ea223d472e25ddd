/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit codes of programs with verbs, which bloomctl(8) and bloomset(1) promise. */
#ifndef XB_CLI_EXITCODE_H
#define XB_CLI_EXITCODE_H

#include <signal.h>

enum {
	EXIT_DONE = 0,
	EXIT_ABSENT = 1, /* what was asked for is not there */
	EXIT_USAGE = 2,	 /* the input is wrong */
	EXIT_SYSTEM = 3, /* the system failed, or a wanted interface is not filtered */
	EXIT_UNREAD = 128 + SIGPIPE,
};

/* The one for the recorded error, by its class. */
int exitcode_of_error(void);

#endif
