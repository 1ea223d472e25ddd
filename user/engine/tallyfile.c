/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new file is complete before it gets its name; nobody shortens one that others may have mapped.
 */
#include "engine/tallyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/faultpoint.h"
#include "base/mapfault.h"
#include "base/plainfile.h"

#define MAGIC 0x31796c6c61546258ULL /* "XbTally1" */
#define NAME  "tallies-"

#define RETRY_AFTER 1 /* s */

static struct {
	char path[XB_PATH_MAX], run[XB_PATH_MAX], state[XB_PATH_MAX];
	void *base; /* NULL: not mapped */
	size_t size;
	int fd;
	bool writable;
	pid_t process; /* that mapped it */
	time_t tried;  /* in vain; 0: never */
} file = {.fd = -1};

/* Of a clock that costs no system call. */
static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return time.tv_sec + 1;
}

void xb_tallyfile_close(void)
{
	/* A child never had the mapping. */
	if (file.base && file.process == getpid())
		munmap(file.base, file.size);
	if (file.fd >= 0)
		close(file.fd);
	file.base = NULL;
	file.fd = -1;
	file.tried = 0;
}

/* By the number of the state directory: its path may have many forms. */
static bool find_path(const struct xb_paths *paths, char path[XB_PATH_MAX])
{
	struct stat st;

	return !stat(paths->state, &st) && S_ISDIR(st.st_mode) &&
	       snprintf(path, XB_PATH_MAX, "%s/" XB_COUNTERS_DIRECTORY "/" NAME "%jx-%jx",
			paths->run, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino) < XB_PATH_MAX;
}

/* Whether the open file is one of ours with this layout. */
static bool is_sound(int fd, size_t size, uint64_t layout)
{
	struct xb_tallyfile_header header;
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       (uintmax_t)st.st_size == size &&
	       pread(fd, &header, sizeof(header), 0) == sizeof(header) && header.magic == MAGIC &&
	       header.layout == layout;
}

/* Opens the file, to read only if it may not be written. -1: there is none, or no sound one; then
 * *wrong says whether something else has its name. */
static int open_existing(int directory, const char *name, size_t size, uint64_t layout, bool *wrong)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = openat(directory, name, O_RDWR | flags);

	*wrong = false;
	file.writable = fd >= 0;
	if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
		fd = openat(directory, name, O_RDONLY | flags);
	if (fd >= 0 && is_sound(fd, size, layout))
		return fd;
	*wrong = fd >= 0 || errno == ELOOP;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool fill_new(int fd, size_t size, uint64_t layout)
{
	struct xb_tallyfile_header header = {.magic = MAGIC, .layout = layout};

	return !ftruncate(fd, (off_t)size) && !posix_fallocate(fd, 0, XB_TALLYFILE_FRONT) &&
	       pwrite(fd, &header, sizeof(header), 0) == sizeof(header);
}

/* Makes a file under a name of its own, then gives it the right one. Of two processes that do this
 * at once the first succeeds, and the other one uses what is there. */
static void create(int directory, const char *name, size_t size, uint64_t layout, bool replace)
{
	char made[NAME_MAX + 1];
	int fd;

	if (snprintf(made, sizeof(made), "%s.%d", name, (int)getpid()) >= (int)sizeof(made))
		return;
	unlinkat(directory, made, 0);
	fd = openat(directory, made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (fd < 0)
		return;
	xb_fault("tallies-rename");
	if (fill_new(fd, size, layout))
		renameat2(directory, made, directory, name, replace ? 0 : RENAME_NOREPLACE);
	unlinkat(directory, made, 0);
	close(fd);
}

static bool map(size_t size)
{
	void *base = mmap(NULL, size, PROT_READ | (file.writable ? PROT_WRITE : 0), MAP_SHARED,
			  file.fd, 0);

	if (base == MAP_FAILED)
		return false;
	/* A child that fetches a list or the like has no business with it. */
	madvise(base, size, MADV_DONTFORK);
	file.base = base;
	file.size = size;
	file.process = getpid();
	return true;
}

static void open_file(const struct xb_paths *paths, size_t size, uint64_t layout, bool may_create)
{
	const char *name;
	int directory;
	bool wrong;

	if (!find_path(paths, file.path))
		return;
	name = strrchr(file.path, '/') + 1;
	directory = may_create ? xb_directory_shared(paths->run, XB_COUNTERS_DIRECTORY)
			       : xb_directory_below(paths->run, XB_COUNTERS_DIRECTORY);
	if (directory < 0)
		return;
	file.fd = open_existing(directory, name, size, layout, &wrong);
	if (file.fd < 0 && may_create) {
		create(directory, name, size, layout, wrong);
		file.fd = open_existing(directory, name, size, layout, &wrong);
	}
	close(directory);
	if (file.fd >= 0 && map(size))
		xb_mapfault_expect(NAME, "%s was cut short: remove it, counters then begin anew",
				   file.path);
}

static bool is_for(const struct xb_paths *paths)
{
	return !strcmp(paths->run, file.run) && !strcmp(paths->state, file.state);
}

static bool remember(const struct xb_paths *paths)
{
	xb_tallyfile_close();
	if (strlen(paths->run) >= sizeof(file.run) || strlen(paths->state) >= sizeof(file.state))
		return false;
	strcpy(file.run, paths->run);
	strcpy(file.state, paths->state);
	return true;
}

void *xb_tallyfile(const struct xb_paths *paths, size_t size, uint64_t layout, bool may_create)
{
	if (!is_for(paths) && !remember(paths))
		return NULL;
	if (file.base && file.process != getpid())
		xb_tallyfile_close();
	if (file.base || (file.tried && now() < file.tried + RETRY_AFTER))
		return file.base;
	xb_tallyfile_close();
	open_file(paths, size, layout, may_create);
	/* Readers ask seldom; that none was there must not keep a writer from making it. */
	if (!file.base && may_create)
		file.tried = now();
	return file.base;
}

bool xb_tallyfile_reserve(size_t offset, size_t size)
{
	return file.writable && !posix_fallocate(file.fd, (off_t)offset, (off_t)size);
}

bool xb_tallyfile_try_lock(void)
{
	return file.base && file.writable && !flock(file.fd, LOCK_EX | LOCK_NB);
}

void xb_tallyfile_unlock(void)
{
	flock(file.fd, LOCK_UN);
}

bool xb_tallyfile_is_writable(void)
{
	return file.writable;
}

void xb_tallyfile_look(const struct xb_paths *paths)
{
	char path[XB_PATH_MAX];

	file.tried = 0;
	if (!file.base)
		return;
	if (!is_for(paths) || !find_path(paths, path) || strcmp(path, file.path) != 0 ||
	    !xb_plainfile_is(path, file.fd))
		xb_tallyfile_close();
}
