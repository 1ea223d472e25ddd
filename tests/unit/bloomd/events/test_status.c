/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line that a service manager shows of bloomd. */
#include <string.h>

#include "bloomd/events/status.h"
#include "support/cmocka.h"

static struct xb_health health;
static struct xb_interface interfaces[3];

static int begin(void **state)
{
	health = (struct xb_health){.policy = XB_POLICY_ENFORCE};
	memset(interfaces, 0, sizeof(interfaces));
	health.interfaces.item = interfaces;
	return 0;
}

static int end(void **state)
{
	xb_problems_free(&health.problems);
	return 0;
}

static void want(const char *name, enum xb_difference difference)
{
	struct xb_interface *one = &interfaces[health.interfaces.count++];

	strcpy(one->wanted, name);
	one->difference = difference;
}

static void assert_status(const char *expected)
{
	char text[STATUS_BYTES];

	status_compose(&health, text);
	assert_string_equal(text, expected);
}

TEST(entries_of_all_kinds)
{
	assert_status("0 entries; policy enforce on no interface");
	health.store.meta.totals.names = 1;
	assert_status("1 entry; policy enforce on no interface");
	health.store.meta.totals = (struct xb_totals){
		.host4 = 1, .prefix4 = 20, .net6 = 300, .names = 4000, .allow = 7};
	health.policy = XB_POLICY_ALLOW_ONLY;
	assert_status("4321 entries; policy allow-only on no interface");
}

TEST(interfaces_that_are_open)
{
	want("x0", XB_IFACE_SAME);
	assert_status("0 entries; policy enforce on 1 interface");
	want("x1", XB_IFACE_SAME);
	assert_status("0 entries; policy enforce on 2 interfaces");
	want("x2", XB_IFACE_BARE);
	xb_problem_add(&health.problems, XB_PROBLEM_UNFILTERED, NULL, "x2 is bare");
	assert_status("0 entries; policy enforce on 2 of 3 interfaces; x2 is bare");
	xb_problem_add(&health.problems, XB_PROBLEM_POLICY, NULL, "something else");
	health.trial_left = 3;
	assert_status("0 entries; policy enforce on 2 of 3 interfaces; a change is on trial; "
		      "x2 is bare (and 1 more)");
}

TEST(a_long_one_is_one_line)
{
	char text[STATUS_BYTES];

	for (int i = 0; i < 2; i++)
		xb_problem_add(&health.problems, XB_PROBLEM_POLICY, NULL, "%0599d", 0);
	health.store.meta.totals.host4 = UINT64_MAX;
	status_compose(&health, text);
	assert_true(strlen(text) < STATUS_BYTES);
	assert_null(strchr(text, '\n'));
	assert_string_equal(text + strlen(text) - 13, " (and 1 more)");
}

EACH_TEST(begin, end);
