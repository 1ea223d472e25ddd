/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Others of the group write to the directory, too: names are made up, links not followed. */
#include "store/trialtext.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/program.h"

#define INPUT "trial.input"

int xb_trial_baseless(void)
{
	return xb_input_error("nothing is enforced, so there is nothing to roll back to%s",
			      xb_advice(XB_ADVICE_ATTACH_FIRST));
}

static int open_directory(const char *state)
{
	int fd = xb_directory_below(state, XB_TRIAL_DIRECTORY);

	/* It comes with the store. */
	if (fd == -ENOENT && access(state, F_OK) < 0)
		return xb_trial_baseless();
	return fd < 0 ? xb_system_error(-fd, "cannot use %s/" XB_TRIAL_DIRECTORY, state) : fd;
}

/* Who commits may be another of the group, of which the maker need not have been a member. */
static int open_to_group(int directory, int fd)
{
	struct stat ours, st;

	if (fstat(directory, &ours) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_gid != ours.st_gid && fchown(fd, (uid_t)-1, ours.st_gid) < 0)
		return -errno;
	return fchmod(fd, 0660) < 0 ? -errno : 0;
}

int xb_trialtext_create(const char *state, char copy[XB_TRIAL_COPY])
{
	int directory = open_directory(state), error = 0, fd;
	uint64_t random;

	if (directory < 0)
		return directory;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
		close(directory);
		return xb_system_error(errno, "no random numbers");
	}
	snprintf(copy, XB_TRIAL_COPY, INPUT ".%d.%016llx", (int)getpid(),
		 (unsigned long long)random);
	fd = openat(directory, copy, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = fd < 0 ? -errno : open_to_group(directory, fd);
	if (error && fd >= 0) {
		close(fd);
		unlinkat(directory, copy, 0);
	}
	close(directory);
	return error ? xb_system_error(-error, "cannot make a file in %s/" XB_TRIAL_DIRECTORY,
				       state)
		     : fd;
}

int xb_trialtext_keep(const char *state, const char *copy, int fd)
{
	int directory = open_directory(state), error = 0;
	struct stat ours, kept;

	if (directory < 0)
		return directory;
	if (renameat(directory, copy, directory, INPUT) < 0)
		error = xb_system_error(errno, "cannot keep the text in %s/" XB_TRIAL_DIRECTORY,
					state);
	else if (fstat(fd, &ours) < 0 ||
		 fstatat(directory, INPUT, &kept, AT_SYMLINK_NOFOLLOW) < 0 ||
		 ours.st_dev != kept.st_dev || ours.st_ino != kept.st_ino)
		error = xb_system_error(0, "the text in %s/" XB_TRIAL_DIRECTORY " was replaced",
					state);
	close(directory);
	return error;
}

void xb_trialtext_forget(const char *state, const char *copy)
{
	int directory = xb_directory_below(state, XB_TRIAL_DIRECTORY);

	if (directory < 0)
		return;
	unlinkat(directory, copy, 0);
	close(directory);
}

/* Whether members could read it themselves, and it is not in a place of its own, too. */
static bool is_readable_by_all(int directory, int fd)
{
	struct stat ours, st;

	return !fstat(directory, &ours) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_nlink == 1 && st.st_gid == ours.st_gid && st.st_mode & S_IRGRP;
}

int xb_trialtext_open(const char *state)
{
	int directory = open_directory(state), fd, error = 0;

	if (directory < 0)
		return directory;
	/* Without waiting: a pipe of somebody's has no writer. */
	fd = openat(directory, INPUT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		error = xb_system_error(
			0, "the text that was on trial is gone from %s/" XB_TRIAL_DIRECTORY, state);
	else if (fd < 0 && errno != ELOOP)
		error = xb_system_error(errno, "cannot read %s/" XB_TRIAL_DIRECTORY "/" INPUT,
					state);
	else if (fd < 0 || !is_readable_by_all(directory, fd))
		error = xb_system_error(0,
					"%s/" XB_TRIAL_DIRECTORY "/" INPUT
					" is not the text that was kept there, and is not read",
					state);
	if (error && fd >= 0)
		close(fd);
	close(directory);
	return error ? error : fd;
}

/* Whether it is the copy of a process that is no more. */
static bool is_orphan(const char *name)
{
	int process;

	return sscanf(name, INPUT ".%d.", &process) == 1 && process > 0 && kill(process, 0) < 0 &&
	       errno == ESRCH;
}

void xb_trialtext_remove(const char *state)
{
	int fd = xb_directory_below(state, XB_TRIAL_DIRECTORY);
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
