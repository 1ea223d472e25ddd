/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How hosts are judged by their reports. */
#include "engine/fleethosts.h"
#include "support/cmocka.h"

static json_t *report_of(const char *host, int at, const char *digest)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:f,s:f,s:{s:s}}", "host", host, "epoch", "e",
			 "position", 7, "at", at, "outbox", 0, "skew", 0.0, "seen", 100.0,
			 "digests", "list", digest);
}

/* As host a judges b. former: of a, as of the time before; NULL: there is none. Takes all three. */
static unsigned int judged(json_t *own, json_t *former, json_t *other)
{
	json_t *state = json_pack("{s:s,s:f,s:[o,o]}", "host", "a", "reports_read", 100.0, "hosts",
				  own, other);
	unsigned int found;

	if (former)
		json_object_set_new(state, "former", former);
	found = xb_fleet_judge(state, xb_fleet_own_report(state),
			       json_array_get(json_object_get(state, "hosts"), 1));
	json_decref(state);
	return found;
}

TEST(as_of_one_time)
{
	assert_int_equal(judged(report_of("a", 20, "1"), NULL, report_of("b", 20, "1")), 0);
	assert_int_equal(judged(report_of("a", 20, "1"), NULL, report_of("b", 20, "2")),
			 XB_HOST_DIFFERS);
}

/* One that differs does so as well while this host alone has reported again. */
TEST(as_of_the_time_before)
{
	assert_int_equal(judged(report_of("a", 30, "1"), NULL, report_of("b", 20, "2")), 0);
	assert_int_equal(
		judged(report_of("a", 30, "1"), report_of("a", 20, "1"), report_of("b", 20, "2")),
		XB_HOST_DIFFERS);
	assert_int_equal(
		judged(report_of("a", 30, "3"), report_of("a", 20, "1"), report_of("b", 20, "1")),
		0);
	/* It is well again by its next report. */
	assert_int_equal(
		judged(report_of("a", 30, "1"), report_of("a", 20, "2"), report_of("b", 30, "1")),
		0);
}

TEST(of_other_times)
{
	assert_int_equal(
		judged(report_of("a", 30, "1"), report_of("a", 20, "1"), report_of("b", 10, "2")),
		0);
}
