/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flock(2) on small files. One that cannot be written is locked all the same. */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/holder.h"
#include "base/paths.h"
#include "base/patience.h"
#include "base/plainfile.h"
#include "base/procfile.h"

static int open_lock(const char *directory, const char *name)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, directory, name);

	return error ? error : xb_plainfile_open(path);
}

/* An operation of ours beside those of flock(2): the place in front of those who wait for the lock,
 * on the byte behind the file's number. A lock of fcntl(2), which flock(2) does not see. */
#define FRONT	   0x100
#define FRONT_BYTE sizeof(uint64_t)

static int call(int fd, int operation)
{
	struct flock front = {
		.l_type = (operation & LOCK_UN) ? F_UNLCK : F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = FRONT_BYTE,
		.l_len = 1,
	};

	if (operation & FRONT)
		return fcntl(fd, (operation & LOCK_NB) ? F_OFD_SETLK : F_OFD_SETLKW, &front);
	return flock(fd, operation);
}

static int take(int fd, int operation)
{
	while (call(fd, operation) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void xb_locks_make(const char *directory)
{
	static const char *const names[] = {XB_WRITER_LOCK, XB_BUILDER_LOCK, XB_COMMIT_LOCK,
					    XB_KNOWN_LOCK};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = open_lock(directory, names[i]);

		if (fd >= 0)
			close(fd);
	}
	xb_error_clear();
}

/* Whoever only looks whether it is held has it for a moment. */
static int take_soon(int fd, int operation)
{
	int error = take(fd, operation | LOCK_NB);

	for (int tries = 0; tries < 5 && error == -EWOULDBLOCK; tries++) {
		usleep(1000);
		error = take(fd, operation | LOCK_NB);
	}
	return error;
}

static bool wait_more(struct xb_wait *wait, int fd, const char *path)
{
	char holder[256], whom[XB_PATH_MAX + sizeof(holder) + 16];

	snprintf(whom, sizeof(whom), "%s holds %s", xb_holder_describe(fd, holder, sizeof(holder)),
		 path);
	return xb_wait_on(wait, whom);
}

#define WAIT_STEP 20000 /* us */

/* -EINTR: somebody else has it still. */
static int wait_a_little(int fd, int operation, bool wakes)
{
	int error;

	/* Asleep in the kernel, which wakes all that wait when the lock is free. */
	if (wakes)
		return call(fd, operation) < 0 ? -errno : 0;
	usleep(WAIT_STEP);
	error = take(fd, operation | LOCK_NB);
	return error == -EWOULDBLOCK ? -EINTR : error;
}

int xb_lock_wait(int fd, int operation, const char *path)
{
	struct xb_wait wait = {0};
	int error = take_soon(fd, operation);
	bool wakes;

	if (error != -EWOULDBLOCK)
		return error ? xb_system_error(-error, "cannot lock %s", path) : 0;
	if (!wait_more(&wait, fd, path))
		return -EBUSY;
	wakes = xb_wait_wake(true);
	do
		error = wait_a_little(fd, operation, wakes);
	while (error == -EINTR && wait_more(&wait, fd, path));
	xb_wait_wake(false);
	xb_wait_end(&wait);
	if (error == -EINTR)
		return -EBUSY;
	return error ? xb_system_error(-error, "cannot lock %s", path) : 0;
}

/* One a name; a process has one state directory. */
static struct {
	const char *name;
	int fd;
} kept[2];

void xb_lock_keep(const char *name, int lock)
{
	for (size_t i = 0; lock >= 0 && i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (kept[i].name && !strcmp(kept[i].name, name))
			break;
		if (kept[i].name)
			continue;
		kept[i].name = name;
		kept[i].fd = lock;
		return;
	}
	xb_unlock(lock);
}

void xb_locks_drop(void)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (kept[i].name)
			close(kept[i].fd);
		kept[i].name = NULL;
	}
}

/* A descriptor that was opened anew would wait for the other one. -ENOENT: it is not kept. */
static int take_kept(const char *name)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		int fd;

		if (!kept[i].name || strcmp(kept[i].name, name))
			continue;
		fd = fcntl(kept[i].fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? xb_system_error(errno, "cannot use %s", name) : fd;
	}
	return -ENOENT;
}

/*
 * Whoever has had the lock and wants it again at once would get it each time, because those who
 * wait are still asleep: so the one in front keeps all others behind it. Where this cannot be had
 * (the file is not writable, the file system knows no such locks), it goes without.
 */
static int lock_in_turn(int fd, const char *path)
{
	bool waits = xb_patience_left(), front = waits && !xb_lock_wait(fd, FRONT | LOCK_EX, path);
	int error;

	if (waits && !front)
		xb_error_clear();
	error = xb_lock_wait(fd, LOCK_EX, path);
	if (front)
		take(fd, FRONT | LOCK_UN);
	return error;
}

int xb_lock(const char *directory, const char *name)
{
	int fd = take_kept(name), error;
	char path[XB_PATH_MAX];

	if (fd != -ENOENT)
		return fd;
	error = xb_path_join(path, directory, name);
	if (error)
		return error;
	fd = xb_plainfile_open(path);
	if (fd < 0)
		return fd;
	error = lock_in_turn(fd, path);
	if (error) {
		close(fd);
		return error;
	}
	xb_holder_note(fd);
	return fd;
}

int xb_try_lock(const char *directory, const char *name)
{
	int fd = open_lock(directory, name), error;

	if (fd < 0)
		return fd;
	error = take(fd, LOCK_EX | LOCK_NB);
	if (error) {
		close(fd);
		return error;
	}
	xb_holder_note(fd);
	return fd;
}

int xb_lock_opening(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	if (fd < 0)
		return xb_system_error(errno, "cannot use the state directory %s", directory);
	error = xb_lock_wait(fd, LOCK_EX, directory);
	if (error) {
		close(fd);
		return error;
	}
	return fd;
}

/* Puts the descriptor, or -1 in place of an error, into *lock. */
static int hand_over(int fd, int *lock)
{
	*lock = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* The same for a lock file that need not be there where nothing can be written. */
static int open_if_writable(const char *directory, const char *name, int *lock)
{
	int error = hand_over(open_lock(directory, name), lock);

	return error == -EROFS ? 0 : error;
}

int xb_lock_out_writers(const char *directory, int *lock)
{
	int error = hand_over(take_kept(XB_WRITER_LOCK), lock);

	if (error != -ENOENT)
		return error;
	error = open_if_writable(directory, XB_WRITER_LOCK, lock);
	if (*lock < 0)
		return error;
	error = xb_lock_wait(*lock, LOCK_SH, XB_WRITER_LOCK);
	if (error) {
		close(*lock);
		*lock = -1;
	}
	return error;
}

void xb_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

int xb_lock_note(int lock, uint64_t number)
{
	if (pwrite(lock, &number, sizeof(number), 0) != sizeof(number))
		return xb_system_error(errno, "cannot write a lock file");
	return 0;
}

bool xb_lock_is_held(const char *directory, const char *name, uint64_t *note)
{
	int fd = open_lock(directory, name);
	bool held;

	*note = 0;
	if (fd < 0)
		return true;
	held = take(fd, LOCK_SH | LOCK_NB) != 0;
	if (pread(fd, note, sizeof(*note), 0) != sizeof(*note))
		*note = 0;
	close(fd);
	return held;
}

bool xb_lock_holder(const char *directory, const char *name, char *text, size_t size)
{
	char path[XB_PATH_MAX];
	bool held;
	int fd;

	if (xb_path_join(path, directory, name))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	held = take_soon(fd, LOCK_SH) == -EWOULDBLOCK;
	if (held)
		xb_holder_describe(fd, text, size);
	close(fd);
	return held;
}

/* Alone, we say which namespace is in use. Where that cannot be said we stay alone. */
static int claim(int fd, uint64_t ours, bool *alone)
{
	uint64_t said = 0;
	int error = take(fd, LOCK_EX | LOCK_NB);

	*alone = false;
	if (error)
		return error == -EWOULDBLOCK ? 0 : error;
	if (pread(fd, &said, sizeof(said), 0) == sizeof(said) && said == ours)
		return 0;
	*alone = pwrite(fd, &ours, sizeof(ours), 0) != sizeof(ours);
	return 0;
}

/* Shared, what is said stays true. 1: it is ours. */
static int share(int fd, uint64_t ours, const char *directory)
{
	uint64_t theirs = 0;
	int error = xb_lock_wait(fd, LOCK_SH, directory);

	if (error)
		return error;
	return pread(fd, &theirs, sizeof(theirs), 0) == sizeof(theirs) && theirs == ours;
}

static int enter_namespace(int fd, uint64_t ours, const char *directory)
{
	for (;;) {
		bool alone;
		int error = claim(fd, ours, &alone);

		if (!error && alone)
			return 0;
		error = error ? xb_system_error(-error, "cannot lock %s", directory)
			      : share(fd, ours, directory);
		if (error)
			return error < 0 ? error : 0;
		/* Between the two locks somebody of another namespace may have come and gone. */
		if (take(fd, LOCK_EX | LOCK_NB))
			return xb_system_error(0,
					       "%s is in use from another PID namespace; use one "
					       "namespace per state directory",
					       directory);
	}
}

int xb_lock_pid_namespace(const char *directory, int *lock)
{
	uint64_t ours = xb_pid_namespace();
	int error;

	*lock = -1;
	if (!ours)
		return xb_system_error(errno, "cannot read /proc/self/ns/pid (is /proc mounted?)");
	error = open_if_writable(directory, "namespace.lock", lock);
	if (*lock < 0)
		return error;
	error = enter_namespace(*lock, ours, directory);
	if (error) {
		close(*lock);
		*lock = -1;
	}
	return error;
}
