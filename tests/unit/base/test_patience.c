/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One budget of time for all waits, and what is said meanwhile. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* Waits until it is given up, or for so many ms. Returns how long that took. */
static uint64_t wait_for(struct xb_wait *wait, unsigned int most, bool *gave_up)
{
	uint64_t start = xb_clock();

	*gave_up = false;
	while (!*gave_up && xb_clock() - start < most * UINT64_C(1000000)) {
		*gave_up = !xb_wait_on(wait, "somebody is in the way");
		usleep(1000);
	}
	return xb_clock() - start;
}

TEST_WITH(without_patience, begin, NULL)
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

TEST_WITH(the_program_adds_its_advice, begin, NULL)
{
	struct xb_wait wait = {0};

	assert_string_equal(xb_program(), "xdp-bloom");
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), "");
	xb_program_set("other", advice);
	assert_string_equal(xb_program(), "other");
	xb_patience_set(0);
	assert_false(xb_wait_on(&wait, "it"));
	assert_string_equal(xb_error_message(), "gave up after waiting 0 s (be patient): it");
	xb_program_set("other", NULL);
	assert_string_equal(xb_advice(XB_ADVICE_WAIT_LONGER), "");
}

TEST_WITH(all_waits_have_one_budget, begin, NULL)
{
	struct xb_wait one = {0}, two = {0};
	uint64_t begun, least, left;
	bool gave_up, goes_on;

	xb_patience_set(60);
	wait_for(&one, 600, &gave_up);
	assert_false(gave_up);
	begun = one.begun;
	least = xb_clock() - begun;
	xb_wait_end(&one);
	assert_int_equal(one.begun, 0);
	assert_in_range(one.before, least, xb_clock() - begun);
	left = 60 * XB_SECOND - one.before;
	xb_wait_end(&one); /* once more: nothing */
	assert_true(one.before == 60 * XB_SECOND - left);
	usleep(300000); /* what is not waited for does not count */
	begun = two.begun = xb_clock() - left + XB_SECOND / 5;
	goes_on = xb_wait_on(&two, "somebody is in the way");
	assert_true(goes_on || xb_clock() - begun >= left);
	two.begun = xb_clock() - left;
	assert_false(xb_wait_on(&two, "somebody is in the way"));
	assert_non_null(strstr(xb_error_message(), "gave up after waiting "));
	assert_false(xb_wait_on(&one, "it"));
	xb_patience_renew();
	assert_true(xb_wait_on(&one, "it"));
	xb_wait_end(&one);
}

/* Once a wait, after a second in all. */
TEST_WITH(it_is_said_once, begin, NULL)
{
	struct xb_wait wait = {0};
	bool gave_up;

	xb_patience_set(60);
	wait_for(&wait, 700, &gave_up);
	xb_wait_end(&wait);
	if (wait.before < XB_SECOND) /* a busy machine may take longer */
		assert_int_equal(times, 0);
	wait_for(&wait, 600, &gave_up);
	assert_false(gave_up);
	assert_int_equal(times, 1);
	assert_memory_equal(told, "waiting, for another 5", 22);
	assert_non_null(strstr(told, " s at most: somebody is in the way"));
	xb_wait_end(&wait);
	assert_true(xb_wait_on(&wait, "it"));
	assert_int_equal(times, 1);
	xb_wait_end(&wait);
}

TEST_WITH(the_longest_patience, begin, NULL)
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
