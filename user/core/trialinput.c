/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Others of the group write to the directory, too: names are made up, links not followed. */
#include "trialinput.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "trial.h"

#define INPUT "trial.input"

static int put_path(char path[XB_PATH_MAX], const char *state, const char *end)
{
	int size = snprintf(path, XB_PATH_MAX, "%s/" XB_TRIAL_DIRECTORY "/" INPUT "%s", state, end);

	return size < XB_PATH_MAX ? 0 : xb_input_error("%s: path too long", state);
}

int xb_trialinput_path(const char *state, char path[XB_PATH_MAX])
{
	return put_path(path, state, "");
}

/* A link would lead to other people's files. -1 and errno: it is no directory of ours. */
static int open_directory(const char *state)
{
	char path[XB_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" XB_TRIAL_DIRECTORY, state) < XB_PATH_MAX)
		return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

int xb_trialinput_create(const char *state, char copy[XB_PATH_MAX])
{
	int fd = open_directory(state), error = errno;
	char end[32];

	/* It comes with the store. */
	if (fd < 0 && error == ENOENT && access(state, F_OK) < 0)
		return xb_trial_baseless();
	if (fd < 0)
		return xb_system_error(error, "cannot use %s/" XB_TRIAL_DIRECTORY, state);
	close(fd);
	snprintf(end, sizeof(end), ".%d.XXXXXX", (int)getpid());
	error = put_path(copy, state, end);
	if (error)
		return error;
	fd = mkostemp(copy, O_CLOEXEC);
	/* Who commits may be another of the group. */
	if (fd >= 0 && !fchmod(fd, 0660))
		return fd;
	error = xb_system_error(errno, "cannot make a file in %s/" XB_TRIAL_DIRECTORY, state);
	if (fd >= 0) {
		close(fd);
		unlink(copy);
	}
	return error;
}

int xb_trialinput_keep(const char *state, const char *copy)
{
	char path[XB_PATH_MAX];
	int error = xb_trialinput_path(state, path);

	if (error)
		return error;
	return rename(copy, path) < 0 ? xb_system_error(errno, "cannot keep %s", path) : 0;
}

/* Whether it is the copy of a process that is no more. */
static bool is_orphan(const char *name)
{
	int process;

	return sscanf(name, INPUT ".%d.", &process) == 1 && process > 0 && kill(process, 0) < 0 &&
	       errno == ESRCH;
}

void xb_trialinput_remove(const char *state)
{
	int fd = open_directory(state);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(directory)))
		if (!strcmp(entry->d_name, INPUT) || is_orphan(entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}
