/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations of Go, beside what time.ParseDuration() of Go says of them. */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "support/cmocka.h"
#include "support/texts.h"

/* rows: "DURATION -> MILLISECONDS; TEXT": the latter is none. */
static void check(const char *rows)
{
	struct texts texts = texts_of(rows);
	char *text, *expected;

	while ((text = next_pair(&texts, &expected))) {
		int64_t found = -1;

		if (xb_duration_parse(text, strlen(text), &found) != !!expected)
			fail_msg("'%s' is %s", text, expected ? "not taken" : "taken");
		if (expected && found != strtoll(expected, NULL, 10))
			fail_msg("'%s' is %lld ms, not %s", text, (long long)found, expected);
	}
}

TEST(durations)
{
	check("0 -> 0; +0 -> 0; -0 -> 0; 5s -> 5000; 3h59m48s -> 14388000; "
	      "3h59m48.5s -> 14388500; -3h59m48s -> -14388000; +1m -> 60000; 1.5h -> 5400000; "
	      ".5s -> 500; 1.s -> 1000; 100ms -> 100; 1m1m -> 120000; 1s1h -> 3601000; "
	      "2000us -> 2; 2000\xc2\xb5s -> 2; 2000\xce\xbcs -> 2; 59m58.666593656s -> 3598667");
}

/* What lasts for a moment lasts; what is over is over. */
TEST(moments)
{
	check("1ns -> 1; 0.000000001s -> 1; 999999ns -> 1; 1000001ns -> 2; -1ns -> 0; "
	      "-1999999ns -> -1; 0s -> 0");
}

/* A fraction of any length; the longest that Go has, and longer ones, which it has not. */
TEST(limits)
{
	check("0.333333333333333333333333333333333333h -> 1200000; "
	      "2562047h47m16.854775807s -> 9223372036855; 9223372036854775807ns -> 9223372036855; "
	      "99999999999999999999999999999999999999999999h -> 9223372036855; "
	      "9999999h9999999h -> 9223372036855; -2562047h47m16.854775807s -> -9223372036854");
}

TEST(no_durations)
{
	int64_t found;

	check("; -; +; 3; .s; .; s; 1; 1.; 1 s;  1s; 1s ; --1s; 1x; 1hm; 1h-1m; 1e3s; forever; "
	      "1d; 0x1s; 1,5h; 1\xc2s");
	/* Nothing behind the end is read. */
	assert_false(xb_duration_parse("10s", 2, &found) || xb_duration_parse("1ms", 1, &found));
}
