/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations of Go, beside what time.ParseDuration() of Go says of them. */
#include <string.h>

#include "fetch/duration.h"
#include "support/cmocka.h"

static void must_be(const char *text, int64_t milliseconds)
{
	int64_t found = -1;

	if (!duration_parse(text, strlen(text), &found) || found != milliseconds)
		fail_msg("'%s' is %lld ms, not %lld", text, (long long)found,
			 (long long)milliseconds);
}

static void must_fail(const char *text, size_t size)
{
	int64_t found;

	if (duration_parse(text, size, &found))
		fail_msg("'%s' is taken", text);
}

TEST(durations)
{
	must_be("0", 0);
	must_be("+0", 0);
	must_be("-0", 0);
	must_be("5s", 5000);
	must_be("3h59m48s", 14388000);
	must_be("3h59m48.5s", 14388500);
	must_be("-3h59m48s", -14388000);
	must_be("+1m", 60000);
	must_be("1.5h", 5400000);
	must_be(".5s", 500);
	must_be("1.s", 1000);
	must_be("100ms", 100);
	must_be("1m1m", 120000);
	must_be("1s1h", 3601000);
	must_be("2000us", 2);
	must_be("2000\xc2\xb5s", 2);
	must_be("2000\xce\xbcs", 2);
	must_be("59m58.666593656s", 3598667);
}

/* What lasts for a moment lasts; what is over is over. */
TEST(moments)
{
	must_be("1ns", 1);
	must_be("0.000000001s", 1);
	must_be("999999ns", 1);
	must_be("1000001ns", 2);
	must_be("-1ns", 0);
	must_be("-1999999ns", -1);
	must_be("0s", 0);
}

/* A fraction of any length; the longest that Go has, and longer ones, which it has not. */
TEST(limits)
{
	const int64_t longest = INT64_MAX / 1000000 + 1;

	must_be("0.333333333333333333333333333333333333h", 1200000);
	must_be("2562047h47m16.854775807s", longest);
	must_be("9223372036854775807ns", longest);
	must_be("99999999999999999999999999999999999999999999h", longest);
	must_be("9999999h9999999h", longest);
	must_be("-2562047h47m16.854775807s", -(INT64_MAX / 1000000));
}

TEST(no_durations)
{
	static const char *const wrong[] = {"",	    "-",    "+",    "3",     ".s",   ".",
					    "s",    "1",    "1.",   "1 s",   " 1s",  "1s ",
					    "--1s", "1x",   "1hm",  "1h-1m", "1e3s", "forever",
					    "1d",   "0x1s", "1,5h", "1\xc2s"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		must_fail(wrong[i], strlen(wrong[i]));
	/* Nothing behind the end is read. */
	must_fail("10s", 2);
	must_fail("1ms", 1);
}
