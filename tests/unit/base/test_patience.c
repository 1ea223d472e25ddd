/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One budget of time for all waits, and what is said meanwhile; what the program adds to that. */
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/patience.h"
#include "base/program.h"
#include "support/cmocka.h"

static char told[512];
static int times;

static void keep(enum xb_notice_kind kind, const char *message)
{
	assert_int_equal(kind, XB_NOTE);
	snprintf(told, sizeof(told), "%s", message);
	times++;
}

static int begin(void **state)
{
	xb_notice_sink(keep);
	xb_error_clear();
	told[0] = '\0';
	times = 0;
	return 0;
}

#define SOMEBODY "somebody is in the way"

/* As if it had waited for so many ms. */
static void wait_for(struct xb_wait *wait, unsigned int ms)
{
	wait->begun = xb_clock() - ms * UINT64_C(1000000);
	assert_true(xb_wait_on(wait, SOMEBODY));
}

TEST(without_patience)
{
	struct xb_wait wait = {0};

	xb_patience_set(0);
	assert_false(xb_wait_on(&wait, "process 812 holds it"));
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_string_equal(xb_error_message(), "gave up after waiting 0 s: process 812 holds it");
	assert_int_equal(times, 0);
	assert_int_equal(wait.begun, 0);
	assert_false(xb_wait_on(&wait, "it"));
}

static const char *advice(enum xb_advice which)
{
	return which == XB_ADVICE_WAIT_LONGER ? " (be patient)" : " (wrong advice)";
}

TEST(the_program_adds_its_advice)
{
	struct xb_wait wait = {0};

	assert_string_equal(xb_program(), "xdp-bloom");
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), "");
	xb_program_set("other", advice);
	assert_string_equal(xb_program(), "other");
	xb_patience_set(0);
	assert_false(xb_wait_on(&wait, "it"));
	assert_string_equal(xb_error_message(), "gave up after waiting 0 s (be patient): it");
	assert_string_equal(xb_advice(XB_ADVICE_REBUILD), " (wrong advice)");
	xb_program_set("other", NULL);
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), "");
}

TEST(all_waits_have_one_budget)
{
	struct xb_wait one = {0}, two = {0};
	uint64_t begun, least, left;
	bool goes_on;

	xb_patience_set(60);
	wait_for(&one, 600);
	begun = one.begun;
	least = xb_clock() - begun;
	xb_wait_end(&one);
	assert_int_equal(one.begun, 0);
	assert_in_range(one.before, least, xb_clock() - begun);
	left = 60 * XB_SECOND - one.before;
	xb_wait_end(&one); /* once more: nothing */
	assert_true(one.before == 60 * XB_SECOND - left);
	usleep(50000); /* what is not waited for does not count */
	begun = two.begun = xb_clock() - left + XB_SECOND / 25;
	goes_on = xb_wait_on(&two, SOMEBODY);
	assert_true(goes_on || xb_clock() - begun >= left);
	two.begun = xb_clock() - left;
	assert_false(xb_wait_on(&two, SOMEBODY));
	assert_non_null(strstr(xb_error_message(), "gave up after waiting "));
	assert_false(xb_wait_on(&one, "it"));
	xb_patience_renew();
	assert_true(xb_wait_on(&one, "it"));
	xb_wait_end(&one);
}

/* Once a wait, after a second in all. */
TEST(it_is_said_once)
{
	struct xb_wait wait = {0};

	xb_patience_set(60);
	wait_for(&wait, 700);
	xb_wait_end(&wait);
	if (wait.before < XB_SECOND) /* a busy machine may take longer */
		assert_int_equal(times, 0);
	wait_for(&wait, 600);
	assert_int_equal(times, 1);
	assert_memory_equal(told, "waiting, for another 5", 22);
	assert_non_null(strstr(told, " s at most: " SOMEBODY));
	xb_wait_end(&wait);
	assert_true(xb_wait_on(&wait, "it"));
	assert_int_equal(times, 1);
	xb_wait_end(&wait);
}

TEST(the_longest_patience)
{
	struct xb_wait wait = {.before = XB_SECOND};

	xb_patience_set(UINT32_MAX);
	assert_true(xb_wait_on(&wait, "it"));
	assert_string_equal(told, "waiting, for another 4294967295 s at most: it");
	xb_wait_end(&wait);
}

static int awake;

static void waker(bool wake)
{
	awake += wake ? 1 : -1;
}

TEST(wakers)
{
	assert_false(xb_wait_wake(true));
	xb_wait_waker(waker);
	assert_true(xb_wait_wake(true));
	assert_int_equal(awake, 1);
	assert_true(xb_wait_wake(false));
	assert_int_equal(awake, 0);
	xb_wait_waker(NULL);
	assert_false(xb_wait_wake(true));
	assert_int_equal(awake, 0);
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

EACH_TEST(begin, NULL);
