/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"

#ifndef XB_LIBEXEC
#define XB_LIBEXEC "/usr/local/libexec"
#endif

#define FIRST 3 /* descriptor of its files */
#define ABOVE 16

_Static_assert(FIRST + HELPER_FILES_MAX <= ABOVE, "descriptors move without meeting");

/* Of bloomd's program, "" if the kernel does not say. */
static void find_folder(char folder[XB_PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", folder, XB_PATH_MAX - 1);

	folder[size > 0 ? size : 0] = '\0';
	if (folder[0])
		*strrchr(folder, '/') = '\0';
}

/* Beside bloomd, then as `make install` lays them out, whatever the prefix, then where the build
 * has them installed. */
static int find_program(const char *name, char path[XB_PATH_MAX])
{
	static const char *const behind[] = {"", "/../libexec/xdp-bloom"};
	char folder[XB_PATH_MAX];

	find_folder(folder);
	for (size_t i = 0; folder[0] && i < sizeof(behind) / sizeof(behind[0]); i++)
		if (snprintf(path, XB_PATH_MAX, "%s%s/%s", folder, behind[i], name) < XB_PATH_MAX &&
		    !access(path, X_OK))
			return 0;
	snprintf(path, XB_PATH_MAX, "%s/xdp-bloom/%s", XB_LIBEXEC, name);
	if (!access(path, X_OK))
		return 0;
	return xb_system_error(errno, "cannot run %s, nor is it in %s or in %s%s", path, folder,
			       folder, behind[1]);
}

int helper_check(const char *name)
{
	char path[XB_PATH_MAX];

	return find_program(name, path);
}

int helper_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? xb_system_error(errno, "cannot make a file in memory") : fd;
}

/* Puts the descriptors where the program wants them. All of them are above first, so that none is
 * overwritten before it has moved. */
static bool place(const struct helper *helper)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), above[HELPER_FILES_MAX];

	for (size_t i = 0; i < helper->count; i++)
		above[i] =
			helper->files[i] < 0 ? -1 : fcntl(helper->files[i], F_DUPFD_CLOEXEC, ABOVE);
	for (int i = 0; i < FIRST; i++)
		if (dup2(nothing, i) < 0)
			return false;
	if (close_range(FIRST, ABOVE - 1, 0))
		return false;
	for (size_t i = 0; i < helper->count; i++)
		if (above[i] >= 0 && dup2(above[i], FIRST + (int)i) < 0)
			return false;
	return !close_range(FIRST + (unsigned int)helper->count, ~0U, 0);
}

/* In the child. */
static _Noreturn void execute(const struct helper *helper, const char *path)
{
	char *arguments[] = {(char *)(uintptr_t)helper->name, NULL};
	char *environment[HELPER_KEPT_MAX + 1] = {0};
	sigset_t none;
	size_t count = 0;

	for (size_t i = 0; i < HELPER_KEPT_MAX && helper->kept[i]; i++) {
		const char *value = getenv(helper->kept[i]);

		if (value && asprintf(&environment[count], "%s=%s", helper->kept[i], value) > 0)
			count++;
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (place(helper))
		execve(path, arguments, environment);
	_exit(127);
}

pid_t helper_start(const struct helper *helper)
{
	char path[XB_PATH_MAX];
	int error = find_program(helper->name, path);
	pid_t child;

	if (error)
		return error;
	child = fork();
	if (!child)
		execute(helper, path);
	return child < 0 ? xb_system_error(errno, "cannot start a process") : child;
}
