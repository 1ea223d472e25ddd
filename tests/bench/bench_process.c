/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_process COMMAND [ARGUMENT...]: how long a whole process takes and the most memory it has.
 * Prints one JSON object; what the command prints is dropped, its errors and input are this one's.
 * Exits as the command does. A peak begins with what the starting process has: this one is small.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/seconds.h"

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	int error, status;
	double start;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_process COMMAND [ARGUMENT...]\n");
		return 2;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	start = seconds();
	error = posix_spawnp(&child, argv[1], &actions, NULL, argv + 1, environ);
	if (error) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
		return 127;
	}
	while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	printf("{\"seconds\":%.9f,\"peak_bytes\":%lld}\n", seconds() - start,
	       (long long)usage.ru_maxrss * 1024);
	posix_spawn_file_actions_destroy(&actions);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
