/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock, also from a time namespace, where a process reads another one. */
#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "support/child.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define MARGIN (30 * XB_SECOND) /* a busy machine */

/* What a process says before it ends. */
struct answer {
	uint64_t clock;
	int64_t boot_shift;
	int check; /* 1: this is no time namespace of its own */
	char message[200];
};

/* In children only: the library looks once. */
static void say(const struct child *child)
{
	struct answer answer = {0};

	answer.clock = xb_clock();
	answer.boot_shift = xb_clock_boot_shift();
	answer.check = xb_clock_check();
	snprintf(answer.message, sizeof(answer.message), "%s", xb_error_message());
	child_tell(child, &answer, sizeof(answer));
	_exit(0);
}

static int enter(const char *offsets)
{
	int fd, failed;

	if (unshare(CLONE_NEWTIME))
		return -1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	failed = write(fd, offsets, strlen(offsets)) < 0;
	close(fd);
	if (failed)
		printf("not taken: %s\n", offsets);
	return failed;
}

/* unshared: it also asked for another one for its children. */
static struct answer ask(const char *offsets, int unshared)
{
	struct child child = child_begin();
	struct answer answer = {0};

	if (!child.pid) {
		int entered = offsets ? enter(offsets) : 0, status;
		pid_t inner = entered ? -1 : fork();

		if (entered > 0) {
			fflush(stdout);
			abort();
		}
		if (!inner) {
			if (unshared && unshare(CLONE_NEWTIME))
				_exit(1);
			say(&child);
		}
		_exit(inner < 0 || waitpid(inner, &status, 0) < 0 || WEXITSTATUS(status));
	}
	if (!child_told(&child, &answer, sizeof(answer)))
		answer.check = 1;
	child_end(&child, 0);
	return answer;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * XB_SECOND + (uint64_t)time.tv_nsec;
}

TEST(in_the_initial_namespace)
{
	uint64_t before = now();
	struct answer answer = ask(NULL, 0);

	assert_int_equal(answer.check, 0);
	assert_in_range(answer.clock, before, now());
	assert_true(answer.boot_shift == 0);
	/* A namespace for children is not ours. */
	before = now();
	answer = ask(NULL, 1);
	assert_int_equal(answer.check, 0);
	assert_in_range(answer.clock, before, now());
}

static void skip_because(const char *why)
{
	printf("%s\n", why);
	skip();
}

static void is_shifted(const char *offsets, int64_t boot_shift)
{
	uint64_t before = now();
	struct answer answer = ask(offsets, 0);

	if (answer.check == 1)
		skip_because("no time namespaces here");
	assert_int_equal(answer.check, 0);
	if (answer.clock < before || answer.clock > before + MARGIN)
		fail_msg("%s: %" PRIu64 " instead of %" PRIu64, offsets, answer.clock, before);
	if (answer.boot_shift != boot_shift)
		fail_msg("%s: boot %" PRId64, offsets, answer.boot_shift);
}

TEST(in_a_time_namespace)
{
	is_shifted("monotonic 100000 0\nboottime 200000 0\n", 200000 * (int64_t)XB_SECOND);
	is_shifted("monotonic 4000000000 999999999\nboottime 0 1\n", 1);
}

/* Backwards, the kernel keeps nanoseconds positive. */
TEST(in_a_namespace_of_the_past)
{
	if (now() < 4 * XB_SECOND)
		skip_because("the machine has just begun");
	is_shifted("monotonic -2 500000000\nboottime -1 250000000\n",
		   -(int64_t)XB_SECOND + 250000000);
}

TEST(where_the_offsets_are_of_another)
{
	struct answer answer = ask("monotonic 100000 0\n", 1);

	if (answer.check == 1)
		skip_because("no time namespaces here");
	assert_true(answer.check < 0);
	assert_non_null(strstr(answer.message, "cannot read the kernel's clock"));
}
