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
#include "support/texts.h"

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

static void fault(void)
{
	volatile uintptr_t nowhere = 4096;

	seen = *(const volatile uint8_t *)nowhere;
}

static void undo(void)
{
	if (write(STDERR_FILENO, "undone, ", 8) < 0)
		_exit(103);
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

/* One step of the reader, with the part of a path and the message that it has, or NULL. */
static void do_step(const char *step, const char *part, const char *message)
{
	z_stream stream = {0};

	if (!strcmp(step, "expect"))
		xb_mapfault_expect(part, "%s", message);
	else if (!strcmp(step, "end"))
		xb_mapfault_end(part);
	else if (!strcmp(step, "watch"))
		crash_watch(CODE);
	else if (!strcmp(step, "undoing"))
		crash_before_end(undo);
	else if (!strcmp(step, "undoing-no-more"))
		crash_before_end(NULL);
	else if (!strcmp(step, "read"))
		seen = *cut_file(part);
	else if (!strcmp(step, "fault"))
		fault();
	else if (!strcmp(step, "abort"))
		abort();
	else if (!strcmp(step, "by-zlib"))
		xb_mapfault_read_by(part, (const void *)(uintptr_t)deflateEnd);
	else if (!strcmp(step, "by-the-program"))
		xb_mapfault_read_by(part, (const void *)(uintptr_t)fault);
	else if (strncmp(step, "zlib-", 5))
		_exit(104);
	stream.zalloc = strcmp(step, "zlib-faults") ? abort_for_zlib : fault_for_zlib;
	if (!strncmp(step, "zlib-", 5))
		deflateInit(&stream, 1);
}

/* steps: "STEP[ PART[ MESSAGE]]; STEP...". */
static void do_steps(const char *steps)
{
	static struct texts texts;

	texts = texts_of(steps);
	for (char *rest; (rest = next_text(&texts));) {
		const char *step = strsep(&rest, " "), *part = strsep(&rest, " ");

		do_step(step, part, rest);
	}
}

/* Does the steps in a child. Returns how that ended, and puts what it said into text. */
static int outcome(const char *steps, char *text, size_t size)
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
		do_steps(steps);
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

static void is_told(const char *steps, const char *message)
{
	static char text[3 * XB_PATH_MAX];
	int status = outcome(steps, text, sizeof(text));

	assert_row(steps, text, message);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CODE);
}

static void is_killed(const char *steps, int signal_number)
{
	char text[256];
	int status = outcome(steps, text, sizeof(text));

	assert_row(steps, text, "");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != signal_number)
		fail_msg("'%s' ends with %d", steps, status);
}

#define EXPECT "expect xbt-one at first; "
#define AGAIN  "expect xbt-one 100%; "

TEST(a_file_that_was_cut)
{
	is_told(EXPECT "expect xbt-two two is damaged; watch; read xbt-two-1",
		"reader: two is damaged\n");
	is_told("watch; " EXPECT AGAIN "read xbt-one", "reader: 100%\n");
}

/* It is cut, and a whole line all the same. */
TEST(a_message_that_is_too_long)
{
	static char text[3 * XB_PATH_MAX], words[2 * XB_PATH_MAX], steps[3 * XB_PATH_MAX];
	size_t size;
	int status;

	memset(words, 'w', sizeof(words) - 1);
	snprintf(steps, sizeof(steps), "expect xbt-one %s; watch; read xbt-one", words);
	status = outcome(steps, text, sizeof(text));
	size = strlen(text);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == CODE);
	assert_in_range(size, XB_PATH_MAX, XB_PATH_MAX + 512);
	assert_int_equal(text[size - 1], '\n');
	assert_int_equal(text[size - 2], 'w');
}

/* For a fifth there is no room; those that are there stay. */
TEST(several_files)
{
	is_told("watch; expect xbt-a a; expect xbt-b b; expect xbt-c c; expect xbt-d d; "
		"expect xbt-e e; expect xbt-d still d; end xbt-e; read xbt-d",
		"reader: still d\n");
}

TEST(faults_elsewhere)
{
	is_killed(EXPECT "watch; read xbt-other", SIGBUS);
	is_killed(EXPECT "watch; fault", SIGSEGV);
	is_killed(EXPECT "read xbt-one", SIGBUS);
}

/* Where nothing is expected, or nobody watches yet, that is no end. */
TEST(damage_found_otherwise)
{
	is_told("end xbt-one; " EXPECT "end xbt-one; watch; end xbt-two; end xbt-one",
		"reader: at first\n");
}

TEST(undone_before_the_end)
{
	is_told("undoing; watch; " AGAIN "read xbt-one", "undone, reader: 100%\n");
	is_told("undoing; undoing-no-more; watch; " AGAIN "read xbt-one", "reader: 100%\n");
	is_killed("undoing; " EXPECT "watch; fault", SIGSEGV);
}

TEST(libraries_that_were_misled)
{
	is_told(AGAIN "by-zlib xbt-one; watch; zlib-faults", "reader: 100%\n");
	is_told(AGAIN "by-zlib xbt-one; watch; zlib-aborts", "reader: 100%\n");
	is_killed(EXPECT "watch; zlib-faults", SIGSEGV);
	/* A library that is part of the program is not told from the rest of it. */
	is_killed(EXPECT "by-the-program xbt-one; watch; fault", SIGSEGV);
	is_killed(EXPECT "by-zlib xbt-one; watch; abort", SIGABRT);
}
