/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that get their name when they are complete; plain files with one name, whatever somebody
 * put in their place; files of the kernel, and the PID namespace, that are read at once; and what
 * is written as a whole. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/newfile.h"
#include "base/plainfile.h"
#include "base/procfile.h"
#include "base/writeall.h"
#include "support/child.h"

static bool always_named; /* as on a file system that knows no others */

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (always_named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return openat(AT_FDCWD, path, flags, mode);
}

static int mounts(void **state)
{
	return own_mounts();
}

/* In an empty folder. */
static int begin(void **state)
{
	umask(0);
	xb_error_clear();
	return mount("xbt", "/mnt", "tmpfs", 0, "mode=0755") || chdir("/mnt");
}

static int end(void **state)
{
	always_named = false;
	return chdir("/") || umount2("/mnt", MNT_DETACH);
}

static int files(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	int count = -1;

	assert_non_null(list);
	assert_int_equal(fscanf(list, "%d", &count), 1);
	pclose(list);
	return count;
}

static void write_file(const char *path, const char *text)
{
	struct xb_newfile file;

	assert_int_equal(xb_newfile_open(&file, path), 0);
	assert_int_equal(write(file.fd, text, strlen(text)), strlen(text));
	assert_int_equal(xb_newfile_finish(&file), 0);
	xb_newfile_close(&file);
}

static void holds(const char *path, const char *text, mode_t mode)
{
	char found[64] = "";
	struct stat about;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(found, text);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 07777, mode);
}

TEST(modes_of_new_files)
{
	for (int i = 0; i < 2; i++) {
		always_named = i;
		umask(027);
		write_file("a", "one");
		holds("a", "one", 0640);
		assert_int_equal(chmod("a", 0600), 0);
		umask(0);
		write_file("a", "two");
		holds("a", "two", 0600);
		assert_int_equal(files(), 1);
		assert_int_equal(unlink("a"), 0);
	}
}

TEST(new_files_behind_links)
{
	struct stat about;

	umask(022);
	for (int i = 0; i < 2; i++) {
		always_named = i;
		write_file("a", "one");
		assert_true(i || !symlink("a", "link"));
		write_file("link", "two");
		holds("a", "two", 0644);
		assert_int_equal(lstat("link", &about), 0);
		assert_true(S_ISLNK(about.st_mode));
	}
}

/* A name may have 255 bytes, and none are left for another part of it. */
TEST(long_names)
{
	char name[257];
	struct xb_newfile file;

	umask(022);
	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	for (int i = 0; i < 4; i++) {
		always_named = i & 1;
		write_file(name, "one");
		holds(name, "one", 0644);
	}
	assert_int_equal(unlink(name), 0);
	name[255] = 'n';
	name[256] = '\0';
	assert_int_not_equal(xb_newfile_open(&file, name), 0);
	xb_newfile_close(&file);
	assert_int_equal(files(), 0);
}

/* What is begun and not finished leaves nothing; a kill neither, unless it has to have a name,
 * which is in the way of none that comes later. */
TEST(unfinished_files)
{
	struct xb_newfile file;

	umask(022);
	write_file("a", "before");
	for (int i = 0; i < 4; i++) {
		struct child child;

		always_named = i & 1;
		assert_int_equal(xb_newfile_open(&file, "a"), 0);
		assert_int_equal(write(file.fd, "half", 4), 4);
		xb_newfile_close(&file);
		assert_int_equal(files(), 1 + i / 2);
		child = child_begin();
		if (!child.pid)
			_exit(xb_newfile_open(&file, "a") || write(file.fd, "half", 4) != 4);
		child_end(&child, 0);
		assert_int_equal(files(), 1 + (i + 1) / 2);
		holds("a", "before", 0644);
	}
	write_file("a", "after");
	holds("a", "after", 0644);
}

static void make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "y", 1), 1);
	close(fd);
}

static void is_refused(const char *name)
{
	char message[256];

	snprintf(message, sizeof(message), "%s is a link or not a regular file: remove it", name);
	xb_error_clear();
	assert_int_equal(xb_plainfile_open(name), -EIO);
	assert_string_equal(xb_error_message(), message);
	xb_error_clear();
	assert_int_equal(xb_plainfile_check(name), -EIO);
	assert_string_equal(xb_error_message(), message);
}

TEST(a_plain_file_that_is_missing_is_made)
{
	struct stat st;
	int fd;

	assert_int_equal(xb_plainfile_check("new"), 0);
	assert_int_equal(access("new", F_OK), -1);
	fd = xb_plainfile_open("new");
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0660);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(xb_plainfile_check("new"), 0);
	assert_true(xb_plainfile_is("new", fd));
	close(fd);
}

/* The file "old" with a byte. */
static void reads_old(void)
{
	int fd = xb_plainfile_open("old");
	char byte = 0;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'y');
	close(fd);
}

static void make_others(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	make("old");
	make("target");
	assert_int_equal(symlink("target", "symbolic"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(link("target", "hard"), 0);
	assert_int_equal(mkdir("directory", 0755), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0); /* does not hang */
	assert_int_equal(bind(fd, (void *)&address, sizeof(address)), 0);
	close(fd);
}

static void refuses_others(void)
{
	static const char *const names[] = {"symbolic", "dangling",  "loop", "hard",
					    "target",	"directory", "pipe", "socket"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_refused(names[i]);
	assert_int_equal(access("nowhere", F_OK), -1);
}

TEST(other_files_are_refused)
{
	make_others();
	reads_old();
	refuses_others();
	if (!mknod("null", S_IFCHR | 0600, makedev(1, 3)))
		is_refused("null");
	assert_int_equal(unlink("hard"), 0);
	assert_int_equal(xb_plainfile_check("target"), 0);
}

TEST(where_nothing_is_written)
{
	int fd;

	make_others();
	assert_int_equal(mount("none", "/mnt", "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
	reads_old();
	fd = xb_plainfile_open("old");
	assert_int_equal(write(fd, "z", 1), -1);
	close(fd);
	assert_int_equal(xb_plainfile_open("missing"), -EROFS);
	assert_non_null(strstr(xb_error_message(), "Read-only file system"));
	refuses_others();
}

TEST(what_cannot_be_opened)
{
	make("old");
	assert_int_equal(xb_plainfile_open("none/file"), -ENOENT);
	assert_non_null(strstr(xb_error_message(), "cannot open none/file: No such file"));
	assert_int_equal(xb_plainfile_check("none/file"), 0);
	assert_int_equal(xb_plainfile_open("old/file"), -ENOTDIR);
}

TEST(another_file_is_told_apart)
{
	int fd;

	make("mine");
	make("other");
	make("old");
	fd = open("mine", O_RDONLY | O_CLOEXEC);
	assert_true(xb_plainfile_is("mine", fd));
	assert_false(xb_plainfile_is("other", fd));
	assert_false(xb_plainfile_is("gone", fd));
	assert_false(xb_plainfile_is("mine", -1));
	assert_int_equal(rename("other", "mine"), 0);
	assert_false(xb_plainfile_is("mine", fd));
	assert_int_equal(unlink("mine"), 0);
	assert_int_equal(symlink("old", "mine"), 0);
	close(fd);
	fd = open("old", O_RDONLY | O_CLOEXEC);
	assert_false(xb_plainfile_is("mine", fd));
	close(fd);
}

/* A file with these bytes: under valgrind this thread has another name of its own. */
TEST(a_file_of_the_kernel)
{
	static const char comm[] = "/proc/thread-self/comm";
	char text[64], small[5];

	assert_int_equal(prctl(PR_SET_NAME, "a name"), 0);
	assert_int_equal(xb_procfile_read(comm, text, sizeof(text)), 7);
	assert_string_equal(text, "a name\n");
	assert_int_equal(xb_procfile_read(comm, small, sizeof(small)), 4);
	assert_string_equal(small, "a na");
	assert_int_equal(xb_procfile_read("/proc/self/nothing", text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(text, "");
	strcpy(text, "before");
	assert_int_equal(xb_procfile_read("/proc/self", text, sizeof(text)), -1);
	assert_int_equal(errno, EISDIR);
	assert_string_equal(text, "");
}

/* Of a child that is in another one, while its parent has asked for its own. */
static int ask_in_another(void)
{
	uint64_t former = xb_pid_namespace();
	pid_t child;
	int status;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		return 77;
	child = fork();
	if (!child)
		_exit(xb_pid_namespace() == former);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TEST(the_pid_namespace)
{
	struct child child;
	struct stat ours;
	int status;

	assert_int_equal(stat("/proc/self/ns/pid", &ours), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(xb_pid_namespace(), ours.st_ino);
	child = child_begin();
	if (!child.pid)
		_exit(ask_in_another());
	status = child_end(&child, 0);
	if (status == 77) {
		print_message("no other PID namespace can be made\n");
		skip();
	}
	assert_int_equal(status, 0);
}

#define BYTES 1000000 /* a pipe takes 64 KiB at once */

TEST(all_is_written_to_a_pipe)
{
	static char bytes[BYTES];
	char got[4096];
	struct child child;
	size_t count = 0;
	ssize_t size;

	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i % 251);
	child = child_begin();
	if (!child.pid)
		_exit(!xb_write_all(child.told, bytes, BYTES));
	while ((size = read(child.told, got, sizeof(got))) > 0) {
		assert_memory_equal(got, bytes + count, size);
		count += (size_t)size;
	}
	assert_int_equal(count, BYTES);
	assert_int_equal(child_end(&child, 0), 0);
}

TEST(what_cannot_be_written)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	assert_false(xb_write_all(full, "text", 4));
	assert_int_equal(errno, ENOSPC);
	assert_true(xb_write_all(full, "", 0));
	close(full);
	assert_false(xb_write_all(-1, "text", 4));
	assert_int_equal(errno, EBADF);
}

EACH_TEST(begin, end);
ALL_TESTS(mounts, NULL);
