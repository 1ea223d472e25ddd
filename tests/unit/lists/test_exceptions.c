/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions in lists in which the narrower rule wins: which give way to what lies below them, and
 * which stay. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/line.h"
#include "support/cmocka.h"
#include "support/listlines.h"

/* "example.com !a.example.com =b.example.com": a line each, '!' for an exception; comes to
 * `expected`. */
static void assert_settled_by(int (*settle)(struct xb_listfile *file), const char *lines,
			      const char *expected)
{
	char copy[512], *rest = copy, *word;

	begin_reading(NULL);
	reading.format = &xb_domains_format;
	assert_true(strlen(lines) < sizeof(copy));
	strcpy(copy, lines);
	while ((word = xb_line_word(&rest))) {
		unsigned int how = *word == '!' ? XB_LINE_ALLOW : 0;

		word += how != 0;
		how |= *word == '=' ? XB_LINE_EXACT : 0;
		file.lines++;
		assert_int_equal(xb_line_keep_domain(&file, word + (*word == '='), how, ""), 0);
	}
	assert_int_equal(xb_entry_sort(&file.items, file.count, sizeof(*file.items)), 0);
	file.room = file.count;
	assert_int_equal(settle(&file), 0);
	assert_file(expected);
	for (size_t i = 0; i < file.count; i++)
		assert_int_equal(file.items[i].doubtful, 0);
	end_reading(NULL);
}

static void assert_settled(const char *lines, const char *expected)
{
	assert_settled_by(xb_line_narrower_wins, lines, expected);
}

#define HIDES(name)  "'" name "' would let pass what the file lists below it"
#define INSIDE(name) "'" name "' lies in an exception, which would have to have an exception"

TEST(nothing_to_settle)
{
	assert_settled("", "domains:");
	assert_settled("a.example", "domains: a.example");
	assert_settled("!a.example", "domains: allow a.example");
	assert_settled("example !a.example", "domains: example, allow a.example");
	assert_settled("b.example !a.example c.example",
		       "domains: b.example, c.example, allow a.example");
	/* a name that only begins as the other does */
	assert_settled("ab.example !b.example bb.example",
		       "domains: ab.example, bb.example, allow b.example");
}

/* Nothing wider is listed, so nobody needs it. */
TEST(an_exception_gives_way)
{
	assert_settled("a.b.example !b.example",
		       "domains: a.b.example; 1 unknown (2: " HIDES("b.example") ")");
	assert_settled("!b.example =b.example",
		       "domains: =b.example; 1 unknown (1: " HIDES("b.example") ")");
	assert_settled("a.b.example !example !b.example",
		       "domains: a.b.example; 2 unknown (2: " HIDES("example") ", 3: " HIDES(
			       "b.example") ")");
	assert_settled(
		"!example !c.example a.b.example",
		"domains: a.b.example, allow c.example; 1 unknown (1: " HIDES("example") ")");
	assert_settled("!b.example a.b.example !b.example",
		       "domains: a.b.example; 2 unknown (1: " HIDES("b.example") ", 3: " HIDES(
			       "b.example") ")");
}

/* Something wider is, or itself, so the exception stays. */
TEST(a_listing_gives_way)
{
	assert_settled(
		"example !b.example a.b.example",
		"domains: example, allow b.example; 1 unknown (3: " INSIDE("a.b.example") ")");
	assert_settled(
		"b.example !b.example a.b.example",
		"domains: b.example, allow b.example; 1 unknown (3: " INSIDE("a.b.example") ")");
	assert_settled(
		"example !b.example =b.example",
		"domains: example, allow b.example; 1 unknown (3: " INSIDE("=b.example") ")");
	assert_settled("example !b.example a.b.example c.b.example d.example",
		       "domains: example, d.example, allow b.example; 2 unknown (3: " INSIDE(
			       "a.b.example") ", 4: " INSIDE("c.b.example") ")");
	assert_settled(
		"example !b.example !a.b.example x.a.b.example",
		"domains: example, allow b.example, allow a.b.example; 1 unknown (4: " INSIDE(
			"x.a.b.example") ")");
	assert_settled("example a.b.example !b.example a.b.example",
		       "domains: example, allow b.example; 2 unknown (2: " INSIDE(
			       "a.b.example") ", 4: " INSIDE("a.b.example") ")");
}

/* The outer one gives way first, and then covers nothing. */
TEST(one_after_the_other)
{
	assert_settled("!example b.example !a.b.example x.a.b.example",
		       "domains: b.example, allow a.b.example; 2 unknown (1: " HIDES(
			       "example") ", 4: " INSIDE("x.a.b.example") ")");
}

/* An exception for a name alone has nothing below it. */
TEST(an_exact_exception_stays)
{
	assert_settled("!=b.example a.b.example", "domains: a.b.example, allow =b.example");
	assert_settled("b.example !=b.example", "domains: b.example, allow =b.example");
	assert_settled("=b.example !=b.example", "domains: =b.example, allow =b.example");
}

TEST_WITH(what_is_listed, begin_reading, end_reading)
{
	static const struct {
		const char *name;
		bool wider, itself;
	} cases[] = {{"example", false, false},	    {"b.example", false, true},
		     {"a.b.example", true, true},   {"x.a.b.example", true, true},
		     {"c.example", false, false},   {"=b.example", true, true},
		     {"=d.example", false, true},   {"d.example", false, false},
		     {"a.d.example", false, false}, {"e.example", false, false}};
	static const char *const listed[] = {"b.example", "=d.example", "!e.example"};

	for (size_t i = 0; i < 3; i++) {
		unsigned int how = *listed[i] == '!'   ? XB_LINE_ALLOW
				   : *listed[i] == '=' ? XB_LINE_EXACT
						       : 0;

		assert_int_equal(xb_line_keep_domain(&file, listed[i] + (how != 0), how, ""), 0);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t form[XB_NAME_BYTES];
		struct xb_entry entry;

		assert_int_equal(
			xb_entry_parse(cases[i].name, strlen(cases[i].name), form, &entry, NULL),
			0);
		for (int allow = 0; allow < 2; allow++) {
			if (xb_line_is_listed(&file, &entry, false) != cases[i].wider ||
			    xb_line_is_listed(&file, &entry, true) != cases[i].itself)
				fail_msg("%s", cases[i].name);
			entry = xb_entry_allow(&entry);
		}
	}
}

#define ALLOWED(name) "'" name "' is allowed by the same list"
#define NOTHING(name) "'" name "' may not be allowed by this list"

static void assert_lists_only(const char *lines, const char *expected)
{
	assert_settled_by(xb_line_list_only, lines, expected);
}

/* What a file allows holds for what it lists at the same place or below it, and nowhere else. */
TEST(a_file_that_may_allow_nothing)
{
	assert_lists_only("", "domains:");
	assert_lists_only("a.example b.example", "domains: a.example, b.example");
	assert_lists_only("a.example !b.example",
			  "domains: a.example; 1 unknown (2: " NOTHING("b.example") ")");
	assert_lists_only("example !a.example",
			  "domains: example; 1 unknown (2: " NOTHING("a.example") ")");
	assert_lists_only("a.example !a.example b.example",
			  "domains: b.example; 2 unknown (1: " ALLOWED("a.example") ", 2: " NOTHING(
				  "a.example") ")");
	assert_lists_only(
		"x.a.example !a.example =a.example !y.a.example ba.example",
		"domains: ba.example; 4 unknown (1: " ALLOWED("x.a.example") ", 2: " NOTHING(
			"a.example") ", 3: " ALLOWED("=a.example") ", 4: " NOTHING("y.a.example") ")");
	assert_lists_only("a.example =b.example !=b.example",
			  "domains: a.example; 2 unknown (2: " ALLOWED(
				  "=b.example") ", 3: " NOTHING("=b.example") ")");
}
