/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into bloomctl: the calls on files below XB_SHIM_DIR, and bpf(2), in the order in which
 * they come.
 *
 * XB_SHIM_FAIL=CALL:ERRNO: the call of that number fails, from 1; CALL+:ERRNO: all from it on.
 * XB_SHIM_DIE=CALL: the process dies by -9 before the call of that number.
 * XB_SHIM_SLEEP=CALL:MILLISECONDS: it sleeps before that call, and before it fails or dies there.
 * XB_SHIM_STOP=CALL: the process stops right after that call, as by SIGSTOP; CALL commit: after the
 * first write that is safe when it returns, LMDB's last of a transaction.
 * XB_SHIM_SEEN=FILE: gets a line for each call, its number and name.
 * XB_SHIM_TRACE=FILE: gets what reaches the disk and when it is safe there, for the test of power
 * loss: struct shim_record, the path, the bytes. See power.py.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 1024
/* The next function of that name, as a function of the same type. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

enum shim_kind { SHIM_WRITE, SHIM_TRUNCATE, SHIM_SYNC, SHIM_CREATE, SHIM_MKDIR };

struct shim_record {
	uint32_t kind, path_size; /* enum shim_kind; bytes */
	uint64_t offset, size;	  /* bytes in the file */
	uint32_t durable;	  /* 1: safe when the call returns */
	uint32_t reserved;
};

static char *path_of[FILES]; /* of files of ours that are open */
static bool durable[FILES];
static unsigned int calls;

/* Absolute, of one below the directory; NULL: not ours. The caller frees it. */
static char *ours(const char *path)
{
	const char *directory = getenv("XB_SHIM_DIR");
	size_t size = directory ? strlen(directory) : 0;

	if (!size || !path || strncmp(path, directory, size) || path[size] != '/')
		return NULL;
	return strdup(path);
}

static void append(const char *variable, const void *bytes, size_t size)
{
	const char *name = getenv(variable);
	int fd;

	if (!name)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
			  0600);
	if (fd < 0 || NEXT(write)(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* What the variable has behind "CALL:", if this is that call (of CALL alone: 0); else -1. */
static int wish(const char *variable)
{
	const char *wanted = getenv(variable);
	char *end;

	if (!wanted || strtoul(wanted, &end, 10) != calls)
		return -1;
	return *end ? atoi(end + 1) : 0;
}

/* Counts the call; errno is set if it is to fail. */
static bool fails(const char *name)
{
	const char *wanted = getenv("XB_SHIM_FAIL");
	unsigned long number;
	char line[64], *end;
	int size;

	calls++;
	size = snprintf(line, sizeof(line), "%u %s\n", calls, name);
	append("XB_SHIM_SEEN", line, (size_t)size);
	if (wish("XB_SHIM_SLEEP") > 0)
		usleep((useconds_t)wish("XB_SHIM_SLEEP") * 1000);
	if (!wish("XB_SHIM_DIE"))
		raise(SIGKILL);
	if (!wanted)
		return false;
	number = strtoul(wanted, &end, 10);
	if (*end == '+' ? calls < number : calls != number)
		return false;
	errno = atoi(strchr(end, ':') + 1);
	return true;
}

/* After a call, before anything else of the process. */
static void done(bool safe)
{
	const char *wanted = getenv("XB_SHIM_STOP");

	if (wanted && (strcmp(wanted, "commit") ? strtoul(wanted, NULL, 10) == calls : safe))
		raise(SIGSTOP);
}

static void trace(enum shim_kind kind, const char *path, uint64_t offset, const void *bytes,
		  uint64_t size, bool safe)
{
	size_t path_size = strlen(path), data = bytes ? size : 0;
	struct shim_record record = {kind, (uint32_t)path_size, offset, size, safe, 0};
	char *all;

	if (!getenv("XB_SHIM_TRACE"))
		return;
	all = malloc(sizeof(record) + path_size + data);
	if (!all)
		abort();
	memcpy(all, &record, sizeof(record));
	memcpy(all + sizeof(record), path, path_size);
	if (data)
		memcpy(all + sizeof(record) + path_size, bytes, data);
	append("XB_SHIM_TRACE", all, sizeof(record) + path_size + data);
	free(all);
}

static const char *file(int fd)
{
	return fd >= 0 && fd < FILES ? path_of[fd] : NULL;
}

static int opened(char *path, int fd, int flags, bool existed)
{
	if (fd < 0 || fd >= FILES) {
		free(path);
		return fd;
	}
	free(path_of[fd]);
	path_of[fd] = path;
	durable[fd] = flags & O_DSYNC;
	if (!existed)
		trace(SHIM_CREATE, path, 0, NULL, 0, false);
	if (flags & O_TRUNC)
		trace(SHIM_TRUNCATE, path, 0, NULL, 0, false);
	return fd;
}

static int do_open(int directory, const char *name, int flags, mode_t mode)
{
	char *path = ours(name);
	bool existed;

	if (!path)
		return (int)syscall(SYS_openat, directory, name, flags, mode);
	if (fails("open")) {
		free(path);
		return -1;
	}
	existed = !access(path, F_OK);
	return opened(path, (int)syscall(SYS_openat, directory, name, flags, mode), flags, existed);
}

static mode_t mode_of(int flags, va_list rest)
{
	return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list rest;                                                                      \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(rest, flags);                                                             \
		mode = mode_of(flags, rest);                                                       \
		va_end(rest);                                                                      \
		return do_open(AT_FDCWD, path, flags, mode);                                       \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
	int name(int directory, const char *path, int flags, ...)                                  \
	{                                                                                          \
		va_list rest;                                                                      \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(rest, flags);                                                             \
		mode = mode_of(flags, rest);                                                       \
		va_end(rest);                                                                      \
		return do_open(directory, path, flags, mode);                                      \
	}
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
	if (file(fd)) {
		free(path_of[fd]);
		path_of[fd] = NULL;
	}
	return (int)syscall(SYS_close, fd);
}

int mkdir(const char *name, mode_t mode)
{
	char *path = ours(name);
	int error;

	if (path && fails("mkdir")) {
		free(path);
		return -1;
	}
	error = NEXT(mkdir)(name, mode);
	if (path && !error)
		trace(SHIM_MKDIR, path, 0, NULL, 0, false);
	free(path);
	return error;
}

/* What was written of it, at offset. */
static ssize_t written(int fd, const struct iovec *parts, int count, off_t offset, ssize_t size)
{
	size_t left = size > 0 ? (size_t)size : 0;

	for (int i = 0; i < count && left; i++) {
		size_t part = parts[i].iov_len < left ? parts[i].iov_len : left;

		trace(SHIM_WRITE, file(fd), (uint64_t)offset, parts[i].iov_base, part, durable[fd]);
		offset += (off_t)part;
		left -= part;
	}
	done(durable[fd]);
	return size;
}

#define PWRITE(name)                                                                               \
	ssize_t name(int fd, const void *bytes, size_t size, off_t offset)                         \
	{                                                                                          \
		struct iovec part = {(void *)(uintptr_t)bytes, size};                              \
                                                                                                   \
		if (!file(fd))                                                                     \
			return NEXT(name)(fd, bytes, size, offset);                                \
		if (fails("pwrite"))                                                               \
			return -1;                                                                 \
		return written(fd, &part, 1, offset, NEXT(name)(fd, bytes, size, offset));         \
	}
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                                              \
	ssize_t name(int fd, const struct iovec *parts, int count, off_t offset)                   \
	{                                                                                          \
		if (!file(fd))                                                                     \
			return NEXT(name)(fd, parts, count, offset);                               \
		if (fails("pwritev"))                                                              \
			return -1;                                                                 \
		return written(fd, parts, count, offset, NEXT(name)(fd, parts, count, offset));    \
	}
PWRITEV(pwritev)
PWRITEV(pwritev64)

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	off_t offset;

	if (!file(fd))
		return NEXT(writev)(fd, parts, count);
	offset = lseek(fd, 0, SEEK_CUR);
	if (fails("writev"))
		return -1;
	return written(fd, parts, count, offset, NEXT(writev)(fd, parts, count));
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	struct iovec part = {(void *)(uintptr_t)bytes, size};
	off_t offset;

	if (!file(fd))
		return NEXT(write)(fd, bytes, size);
	offset = lseek(fd, 0, SEEK_CUR);
	if (fails("write"))
		return -1;
	return written(fd, &part, 1, offset, NEXT(write)(fd, bytes, size));
}

#define PREAD(name)                                                                                \
	ssize_t name(int fd, void *bytes, size_t size, off_t offset)                               \
	{                                                                                          \
		return file(fd) && fails("pread") ? -1 : NEXT(name)(fd, bytes, size, offset);      \
	}
PREAD(pread)
PREAD(pread64)

#define TRUNCATE(name)                                                                             \
	int name(int fd, off_t size)                                                               \
	{                                                                                          \
		int error;                                                                         \
                                                                                                   \
		if (!file(fd))                                                                     \
			return NEXT(name)(fd, size);                                               \
		if (fails("ftruncate"))                                                            \
			return -1;                                                                 \
		error = NEXT(name)(fd, size);                                                      \
		if (!error)                                                                        \
			trace(SHIM_TRUNCATE, file(fd), 0, NULL, (uint64_t)size, false);            \
		done(false);                                                                       \
		return error;                                                                      \
	}
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* Returns the error, as the real one does. */
#define ALLOCATE(name)                                                                             \
	int name(int fd, off_t offset, off_t size)                                                 \
	{                                                                                          \
		return file(fd) && fails("posix_fallocate") ? errno                                \
							    : NEXT(name)(fd, offset, size);        \
	}
ALLOCATE(posix_fallocate)
ALLOCATE(posix_fallocate64)

#define SYNC(name)                                                                                 \
	int name(int fd)                                                                           \
	{                                                                                          \
		int error;                                                                         \
                                                                                                   \
		if (!file(fd))                                                                     \
			return NEXT(name)(fd);                                                     \
		if (fails(#name))                                                                  \
			return -1;                                                                 \
		error = NEXT(name)(fd);                                                            \
		if (!error)                                                                        \
			trace(SHIM_SYNC, file(fd), 0, NULL, 0, true);                              \
		done(false);                                                                       \
		return error;                                                                      \
	}
SYNC(fsync)
SYNC(fdatasync)

#define MAP(name)                                                                                  \
	void *name(void *place, size_t size, int protection, int flags, int fd, off_t offset)      \
	{                                                                                          \
		if (file(fd) && fails("mmap"))                                                     \
			return MAP_FAILED;                                                         \
		return NEXT(name)(place, size, protection, flags, fd, offset);                     \
	}
MAP(mmap)
MAP(mmap64)

#define CONTROL(name)                                                                              \
	int name(int fd, int what, ...)                                                            \
	{                                                                                          \
		va_list rest;                                                                      \
		long argument;                                                                     \
                                                                                                   \
		va_start(rest, what);                                                              \
		argument = va_arg(rest, long);                                                     \
		va_end(rest);                                                                      \
		return file(fd) && fails("fcntl") ? -1 : NEXT(name)(fd, what, argument);           \
	}
CONTROL(fcntl)
CONTROL(fcntl64)

int flock(int fd, int operation)
{
	return file(fd) && fails("flock") ? -1 : NEXT(flock)(fd, operation);
}

/* LMDB makes its two before it says whose they are. Returns the error, as the real one does. */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *how)
{
	return how && getenv("XB_SHIM_DIR") && fails("mutex")
		       ? errno
		       : NEXT(pthread_mutex_init)(mutex, how);
}

/* libbpf calls bpf(2) by it. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long argument[6], result;
	va_list rest;

	if (!next)
		next = NEXT(syscall);
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(rest, long);
	va_end(rest);
	if (number != SYS_bpf || !getenv("XB_SHIM_DIR"))
		return next(number, argument[0], argument[1], argument[2], argument[3], argument[4],
			    argument[5]);
	if (fails("bpf"))
		return -1;
	result = next(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		      argument[5]);
	done(false);
	return result;
}
