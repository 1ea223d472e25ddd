/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that get their name when they are complete, with and without a name meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/newfile.h"
#include "support/cmocka.h"

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

static char folder[] = "/tmp/newfile-XXXXXX";

static int in_folder(void **state)
{
	strcpy(folder, "/tmp/newfile-XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int away(void **state)
{
	always_named = false;
	return system("rm -rf -- *.x .[!.]*; cd / && rmdir \"$OLDPWD\"") || chdir("/");
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

TEST(modes)
{
	for (int i = 0; i < 2; i++) {
		always_named = i;
		umask(027);
		write_file("a.x", "one");
		holds("a.x", "one", 0640);
		assert_int_equal(chmod("a.x", 0600), 0);
		umask(0);
		write_file("a.x", "two");
		holds("a.x", "two", 0600);
		assert_int_equal(files(), 1);
		assert_int_equal(unlink("a.x"), 0);
	}
}

TEST(links)
{
	struct stat about;

	umask(022);
	for (int i = 0; i < 2; i++) {
		always_named = i;
		write_file("a.x", "one");
		assert_true(i || !symlink("a.x", "link.x"));
		write_file("link.x", "two");
		holds("a.x", "two", 0644);
		assert_int_equal(lstat("link.x", &about), 0);
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
	strcpy(name + 253, ".x");
	for (int i = 0; i < 4; i++) {
		always_named = i & 1;
		write_file(name, "one");
		holds(name, "one", 0644);
	}
	assert_int_equal(unlink(name), 0);
	strcpy(name + 254, ".x");
	assert_int_not_equal(xb_newfile_open(&file, name), 0);
	xb_newfile_close(&file);
	assert_int_equal(files(), 0);
}

/* What is begun and not finished leaves nothing; a kill neither, unless it has to have a name,
 * which is in the way of none that comes later. */
TEST(unfinished)
{
	struct xb_newfile file;

	umask(022);
	write_file("a.x", "before");
	for (int i = 0; i < 4; i++) {
		pid_t child;

		always_named = i & 1;
		assert_int_equal(xb_newfile_open(&file, "a.x"), 0);
		assert_int_equal(write(file.fd, "half", 4), 4);
		xb_newfile_close(&file);
		assert_int_equal(files(), 1 + i / 2);
		child = fork();
		if (!child) {
			_exit(xb_newfile_open(&file, "a.x") || write(file.fd, "half", 4) != 4);
		}
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(files(), 1 + (i + 1) / 2);
		holds("a.x", "before", 0644);
	}
	write_file("a.x", "after");
	holds("a.x", "after", 0644);
}

EACH_TEST(in_folder, away);
