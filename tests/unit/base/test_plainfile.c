/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Only a plain file with one name is opened, whatever somebody put in its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/plainfile.h"
#include "support/cmocka.h"

/* A mount of its own, which goes with the process. */
static const char folder[] = "/mnt";

static int mounted(void **state)
{
	umask(0);
	return unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	       mount("xbt", folder, "tmpfs", 0, "mode=0755");
}

static const char *at(const char *name)
{
	static char paths[4][128];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void make(const char *name, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static void is_refused(const char *name)
{
	const char *path = at(name);
	char message[256];

	snprintf(message, sizeof(message), "%s is a link or not a regular file: remove it", path);
	xb_error_clear();
	assert_int_equal(xb_plainfile_open(path), -EIO);
	assert_string_equal(xb_error_message(), message);
	xb_error_clear();
	assert_int_equal(xb_plainfile_check(path), -EIO);
	assert_string_equal(xb_error_message(), message);
}

TEST(one_that_is_missing_is_made)
{
	const char *path = at("new");
	struct stat st;
	int fd;

	assert_int_equal(xb_plainfile_check(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	fd = xb_plainfile_open(path);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0660);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(xb_plainfile_check(path), 0);
	assert_true(xb_plainfile_is(path, fd));
	close(fd);
}

TEST(one_that_is_there_is_kept)
{
	char byte = 0;
	int fd;

	make("old", 0600);
	fd = xb_plainfile_open(at("old"));
	assert_int_equal(write(fd, "y", 1), 1);
	close(fd);
	fd = xb_plainfile_open(at("old"));
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'y');
	close(fd);
}

TEST(links_are_refused)
{
	make("target", 0600);
	assert_int_equal(symlink("target", at("symbolic")), 0);
	is_refused("symbolic");
	assert_int_equal(symlink("nowhere", at("dangling")), 0);
	is_refused("dangling");
	assert_int_equal(access(at("nowhere"), F_OK), -1);
	assert_int_equal(symlink("loop", at("loop")), 0);
	is_refused("loop");
	assert_int_equal(link(at("target"), at("hard")), 0);
	is_refused("hard");
	is_refused("target");
	assert_int_equal(unlink(at("hard")), 0);
	assert_int_equal(xb_plainfile_check(at("target")), 0);
}

TEST(other_kinds_are_refused)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkdir(at("directory"), 0755), 0);
	is_refused("directory");
	assert_int_equal(mkfifo(at("pipe"), 0600), 0); /* does not hang */
	is_refused("pipe");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("socket"));
	assert_int_equal(bind(fd, (void *)&address, sizeof(address)), 0);
	is_refused("socket");
	close(fd);
	if (!mknod(at("null"), S_IFCHR | 0600, makedev(1, 3)))
		is_refused("null");
}

TEST(what_cannot_be_opened)
{
	assert_int_equal(xb_plainfile_open(at("none/file")), -ENOENT);
	assert_non_null(strstr(xb_error_message(), "cannot open /mnt/none/file: No such file"));
	assert_int_equal(xb_plainfile_check(at("none/file")), 0);
	assert_int_equal(xb_plainfile_open(at("old/file")), -ENOTDIR);
}

TEST(another_file_is_told_apart)
{
	int fd;

	make("mine", 0600);
	make("other", 0600);
	fd = open(at("mine"), O_RDONLY | O_CLOEXEC);
	assert_true(xb_plainfile_is(at("mine"), fd));
	assert_false(xb_plainfile_is(at("other"), fd));
	assert_false(xb_plainfile_is(at("gone"), fd));
	assert_false(xb_plainfile_is(at("mine"), -1));
	assert_int_equal(rename(at("other"), at("mine")), 0);
	assert_false(xb_plainfile_is(at("mine"), fd));
	assert_int_equal(unlink(at("mine")), 0);
	assert_int_equal(symlink("old", at("mine")), 0);
	close(fd);
	fd = open(at("old"), O_RDONLY | O_CLOEXEC);
	assert_false(xb_plainfile_is(at("mine"), fd));
	close(fd);
}

/* Last, since nothing is written from then on. */
TEST(one_that_cannot_be_written_is_read)
{
	char byte;
	int fd;

	assert_int_equal(mount("none", folder, "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
	fd = xb_plainfile_open(at("old"));
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(write(fd, "z", 1), -1);
	close(fd);
	assert_int_equal(xb_plainfile_open(at("missing")), -EROFS);
	assert_non_null(strstr(xb_error_message(), "Read-only file system"));
	is_refused("symbolic");
	is_refused("directory");
	is_refused("pipe");
	is_refused("socket");
}

ALL_TESTS(mounted, NULL);
