/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The usage line of a verb, that in front of all of them, and the options in columns. */
#include <stdio.h>
#include <string.h>

#include "cli/usage.h"
#include "support/cmocka.h"
#include "support/heard.h"

static void check(const struct verb *verb, const char *expected)
{
	struct {
		char text[USAGE_BYTES];
		char behind;
	} out;

	memset(&out, 'z', sizeof(out));
	assert_ptr_equal(usage_line(verb, out.text), out.text);
	assert_string_equal(out.text, expected);
	assert_int_equal(out.behind, 'z');
}

#define CHECK(expected, word, ...) check(&(const struct verb){.name = word, __VA_ARGS__}, expected)

TEST(operands_and_commands_below)
{
	static const struct verb on = {.name = "on"}, off = {.name = "off"};
	static const struct verb *const one[] = {&on, NULL}, *const two[] = {&on, &off, NULL};

	CHECK("list", "list");
	CHECK("auto list", "list", .above = "auto");
	CHECK("list ENTRY...", "list", .operands = {{"ENTRY..."}});
	CHECK("list ENTRY... [on|off]", "list", .operands = {{"ENTRY..."}, {"on|off", true}});
	/* Who leaves out the first leaves out both. */
	CHECK("list [ENTRY... [on|off]]", "list",
	      .operands = {{"ENTRY...", true}, {"on|off", true}});
	CHECK("list [ENTRY...]", "list", .operands = {{"ENTRY...", true}});
	CHECK("auto on ...", "auto", .below = one);
	CHECK("auto on|off ...", "auto", .below = two);
}

TEST(options)
{
	static const struct option_spec none[] = {{0}};
	static const struct option_spec all[] = {
		{.name = "list", .value = "NAME"},
		{.name = "all"},
		{.name = "every", .instead = true},
		{.name = "each", .value = "N", .instead = true},
		{.name = "output", .value = "FILE", .needed = true},
		{.name = "to", .value = "FILE", .instead = true},
		{.name = "exist"},
		{0},
	};

	CHECK("add", "add", .options = none);
	CHECK("add [--list NAME] [--all|--every|--each N] --output FILE|--to FILE [--exist]", "add",
	      .options = all);
	/* Instead of the operands. */
	CHECK("add ENTRY|--every|--each N --output FILE|--to FILE [--exist]", "add",
	      .operands = {{"ENTRY"}}, .options = all + 2);
}

/* The longest line that is whole, and those that are cut. */
TEST(a_long_line_is_cut)
{
	char name[2 * USAGE_BYTES], line[2 * USAGE_BYTES + 16];

	for (size_t size = USAGE_BYTES - 12; size < sizeof(name); size++) {
		const struct option_spec table[] = {{.name = name}, {.name = "ab"}, {0}};
		const struct verb verb = {.name = "v", .options = table};

		memset(name, 'n', size);
		name[size] = '\0';
		snprintf(line, sizeof(line), "v [--%s] [--ab]", name);
		line[USAGE_BYTES - 1] = '\0';
		check(&verb, line);
	}
}

TEST(in_front_of_a_command)
{
	static const struct option_spec table[] = {
		{.name = "json", .letter = 'j'},  {.name = "state", .value = "DIR"},
		{.name = "quiet", .letter = 'q'}, {.name = "help", .letter = 'h', .instead = true},
		{.name = "pin", .value = "DIR"},  {0},
	};
	char out[USAGE_BYTES];

	assert_ptr_equal(usage_in_front(table, out), out);
	assert_string_equal(out, "[-jq] [--state DIR] [--pin DIR]");
}

TEST(columns)
{
	static const struct option_spec table[] = {
		{.name = "json", .letter = 'j', .help = "answer in JSON"},
		{.name = "state", .value = "DIR", .help = "where"},
		{.name = "rate", .value = "R", .letter = 'p', .help = "how often"},
		{0},
	};
	struct hearing hearing;

	hear(&hearing, &stdout);
	usage_print_options(table);
	assert_string_equal(heard(&hearing), "  -j, --json    answer in JSON\n"
					     "  --state DIR   where\n"
					     "  -p, --rate R  how often\n");
	hear(&hearing, &stdout);
	usage_print_options(table + 3);
	assert_string_equal(heard(&hearing), "");
}
