/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of the library name no command, unless the program gives it the words. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/patience.h"
#include "base/program.h"
#include "support/cmocka.h"

static const char *words(enum xb_advice advice)
{
	return advice == XB_ADVICE_WAIT_LONGER ? " (--longer)" : "";
}

static void quiet(enum xb_notice_kind kind, const char *message)
{
}

/* Of a lock that another descriptor has. */
static const char *message_of_a_wait(void)
{
	char path[] = "/tmp/xb-lock-XXXXXX";
	int held = mkstemp(path), other = open(path, O_RDWR | O_CLOEXEC);

	assert_true(held >= 0 && other >= 0);
	assert_int_equal(flock(held, LOCK_EX), 0);
	xb_patience_set(1);
	assert_int_equal(xb_lock_wait(other, LOCK_EX, "the lock"), -EBUSY);
	close(held);
	xb_patience_set(1);
	assert_int_equal(xb_lock_wait(other, LOCK_EX, "the lock"), 0);
	close(other);
	unlink(path);
	return xb_error_message();
}

TEST(words_of_the_program)
{
	assert_string_equal(xb_program(), "xdp-bloom");
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), "");
	xb_program_set("program", words);
	assert_string_equal(xb_program(), "program");
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), " (--longer)");
	assert_string_equal(xb_advice(XB_ADVICE_REBUILD), "");
	assert_non_null(strstr(message_of_a_wait(), "gave up after waiting 1 s (--longer): "));
}

static int wakes;

static void wake(bool on)
{
	wakes += on;
}

/* The library installs no signal handler to end a wait: the program may, else it looks again. */
TEST(a_wait_ends_without_signals)
{
	struct sigaction before, after;

	assert_int_equal(sigaction(SIGALRM, NULL, &before), 0);
	message_of_a_wait();
	assert_int_equal(sigaction(SIGALRM, NULL, &after), 0);
	assert_ptr_equal(before.sa_handler, after.sa_handler);
	assert_false(xb_wait_wake(true));
	xb_wait_waker(wake);
	assert_true(xb_wait_wake(true));
	assert_int_equal(wakes, 1);
	xb_wait_waker(NULL);
}

/* As the file of this program has it: its bytes stand behind the name of the note. */
TEST(a_build_has_a_name)
{
	static char file[1 << 16];
	FILE *program = fopen("/proc/self/exe", "re");
	size_t size, read;
	const uint8_t *build = xb_program_build(&size);
	const char *note;

	assert_non_null(build);
	assert_int_equal(size, 20);
	assert_non_null(program);
	read = fread(file, 1, sizeof(file), program);
	fclose(program);
	note = memmem(file, read, build, size);
	assert_non_null(note);
	assert_memory_equal(note - 4, "GNU", 4);
}

BEFORE_MAIN(prepare)
{
	xb_notice_sink(quiet);
}
