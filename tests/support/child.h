/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of a test, what they tell it, and mounts of its own, which go with the process. */
#ifndef XB_TESTS_CHILD_H
#define XB_TESTS_CHILD_H

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka.h"

struct child {
	pid_t pid; /* 0: this is the child */
	int told;  /* in the child: where it tells; else where that is read */
};

static inline struct child child_begin(void)
{
	struct child child;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	child.told = ends[child.pid ? 0 : 1];
	close(ends[child.pid ? 1 : 0]);
	return child;
}

/* In the child. */
static inline void child_tell(const struct child *child, const void *bytes, size_t size)
{
	if (write(child->told, bytes, size) != (ssize_t)size)
		_exit(101);
}

/* Whether it told all of it. */
static inline bool child_told(const struct child *child, void *bytes, size_t size)
{
	return read(child->told, bytes, size) == (ssize_t)size;
}

/* Its exit status; of one that waits for its end, by a signal. */
static inline int child_end(const struct child *child, int signal)
{
	int status;

	if (signal)
		kill(child->pid, signal);
	close(child->told);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	assert_true(signal || WIFEXITED(status));
	return signal ? 0 : WEXITSTATUS(status);
}

static inline int own_mounts(void)
{
	return unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
}

#endif
