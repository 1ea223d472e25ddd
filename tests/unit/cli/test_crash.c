/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are cut short while they are mapped end their reader with a message, and so does a
 * library that a file misled; faults elsewhere end it as ever. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

#include "base/mapfault.h"
#include "base/paths.h"
#include "cli/crash.h"
#include "support/cmocka.h"

#define CODE 3

static volatile uint8_t seen;

/* A page of a file of this name that was cut to nothing. */
static const volatile uint8_t *cut_file(const char *name)
{
	char path[XB_PATH_MAX];
	const volatile uint8_t *bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 100))
		_exit(100);
	bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED || ftruncate(fd, 0))
		_exit(101);
	unlink(path);
	return bytes;
}

/* Runs it in a child. Returns how that ended, and puts what it said into text. */
static int outcome(void (*what)(void), char *text, size_t size)
{
	int told[2], status;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_DUMPABLE, 0);
		/* The sanitizer's own handlers would report the fault. */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		if (dup2(told[1], STDERR_FILENO) < 0)
			_exit(102);
		program_invocation_short_name = (char[]){"reader"};
		what();
		_exit(0);
	}
	close(told[1]);
	while ((got = read(told[0], text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(told[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void is_told(void (*what)(void), const char *message)
{
	static char text[3 * XB_PATH_MAX];
	int status = outcome(what, text, sizeof(text));

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CODE);
	assert_string_equal(text, message);
}

static void is_killed(void (*what)(void), int signal_number)
{
	char text[256];
	int status = outcome(what, text, sizeof(text));

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal_number);
	assert_string_equal(text, "");
}

static void read_cut(void)
{
	xb_mapfault_expect("xbt-cut-one", "the file of %s is damaged", "one");
	xb_mapfault_expect("xbt-cut-two", "the file of %s is damaged", "two");
	crash_watch(CODE);
	seen = *cut_file("xbt-cut-two-1");
}

static void read_cut_again(void)
{
	crash_watch(CODE);
	xb_mapfault_expect("xbt-cut-one", "at first");
	xb_mapfault_expect("xbt-cut-one", "%d%%", 100);
	seen = *cut_file("xbt-cut-one");
}

TEST(a_file_that_was_cut)
{
	is_told(read_cut, "reader: the file of two is damaged\n");
	is_told(read_cut_again, "reader: 100%\n");
}

static void read_long(void)
{
	static char words[2 * XB_PATH_MAX];

	memset(words, 'w', sizeof(words) - 1);
	xb_mapfault_expect("xbt-cut-long", "%s", words);
	crash_watch(CODE);
	seen = *cut_file("xbt-cut-long");
}

/* It is cut, and a whole line all the same. */
TEST(a_message_that_is_too_long)
{
	static char text[3 * XB_PATH_MAX];
	int status = outcome(read_long, text, sizeof(text));
	size_t size = strlen(text);

	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == CODE);
	assert_in_range(size, XB_PATH_MAX, XB_PATH_MAX + 512);
	assert_int_equal(text[size - 1], '\n');
	assert_int_equal(text[size - 2], 'w');
}

static void read_four(void)
{
	crash_watch(CODE);
	xb_mapfault_expect("xbt-a", "a");
	xb_mapfault_expect("xbt-b", "b");
	xb_mapfault_expect("xbt-c", "c");
	xb_mapfault_expect("xbt-d", "d");
	/* There is no room for more; those that are there stay. */
	xb_mapfault_expect("xbt-e", "e");
	xb_mapfault_expect("xbt-d", "still d");
	xb_mapfault_end("xbt-e");
	seen = *cut_file("xbt-d");
}

TEST(several_files)
{
	is_told(read_four, "reader: still d\n");
}

static void read_another(void)
{
	xb_mapfault_expect("xbt-cut-one", "damaged");
	crash_watch(CODE);
	seen = *cut_file("xbt-other");
}

static void fault(void)
{
	volatile uintptr_t nowhere = 4096;

	seen = *(const volatile uint8_t *)nowhere;
}

static void read_nowhere(void)
{
	xb_mapfault_expect("xbt-cut-one", "damaged");
	crash_watch(CODE);
	fault();
}

static void read_unwatched(void)
{
	xb_mapfault_expect("xbt-cut-one", "damaged");
	seen = *cut_file("xbt-cut-one");
}

TEST(faults_elsewhere)
{
	is_killed(read_another, SIGBUS);
	is_killed(read_nowhere, SIGSEGV);
	is_killed(read_unwatched, SIGBUS);
}

static void end_expected(void)
{
	xb_mapfault_end("xbt-cut-one");
	xb_mapfault_expect("xbt-cut-one", "damaged");
	xb_mapfault_end("xbt-cut-one"); /* nobody watches yet */
	crash_watch(CODE);
	xb_mapfault_end("xbt-cut-two"); /* nothing is expected there */
	xb_mapfault_end("xbt-cut-one");
}

TEST(damage_found_otherwise)
{
	is_told(end_expected, "reader: damaged\n");
}

static void undo(void)
{
	if (write(STDERR_FILENO, "undone, ", 8) < 0)
		_exit(103);
}

static void read_undoing(void)
{
	crash_before_end(undo);
	read_cut_again();
}

static void read_done_undoing(void)
{
	crash_before_end(undo);
	crash_before_end(NULL);
	read_cut_again();
}

static void fault_undoing(void)
{
	crash_before_end(undo);
	read_nowhere();
}

TEST(undone_before_the_end)
{
	is_told(read_undoing, "undone, reader: 100%\n");
	is_told(read_done_undoing, "reader: 100%\n");
	is_killed(fault_undoing, SIGSEGV);
}

static void *fault_for_zlib(void *opaque, unsigned int count, unsigned int size)
{
	fault();
	return calloc(count, size);
}

static void *abort_for_zlib(void *opaque, unsigned int count, unsigned int size)
{
	abort();
}

static void call_zlib(alloc_func callback)
{
	z_stream stream = {.zalloc = callback};

	deflateInit(&stream, 1);
}

static void fault_in_library(void)
{
	xb_mapfault_expect("xbt-cut-one", "misled");
	xb_mapfault_read_by("xbt-cut-one", (const void *)(uintptr_t)deflateEnd);
	crash_watch(CODE);
	call_zlib(fault_for_zlib);
}

static void abort_in_library(void)
{
	xb_mapfault_expect("xbt-cut-one", "misled");
	xb_mapfault_read_by("xbt-cut-one", (const void *)(uintptr_t)deflateEnd);
	crash_watch(CODE);
	call_zlib(abort_for_zlib);
}

static void fault_in_another_library(void)
{
	xb_mapfault_expect("xbt-cut-one", "misled");
	crash_watch(CODE);
	call_zlib(fault_for_zlib);
}

/* A library that is part of the program is not told from the rest of it. */
static void fault_in_the_program(void)
{
	xb_mapfault_expect("xbt-cut-one", "misled");
	xb_mapfault_read_by("xbt-cut-one", (const void *)(uintptr_t)fault_in_the_program);
	crash_watch(CODE);
	fault();
}

static void abort_elsewhere(void)
{
	xb_mapfault_expect("xbt-cut-one", "misled");
	xb_mapfault_read_by("xbt-cut-one", (const void *)(uintptr_t)deflateEnd);
	crash_watch(CODE);
	abort();
}

TEST(libraries_that_were_misled)
{
	is_told(fault_in_library, "reader: misled\n");
	is_told(abort_in_library, "reader: misled\n");
	is_killed(fault_in_another_library, SIGSEGV);
	is_killed(fault_in_the_program, SIGSEGV);
	is_killed(abort_elsewhere, SIGABRT);
}
