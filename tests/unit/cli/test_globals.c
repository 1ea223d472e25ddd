/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of every command: in front of it, behind it among those of the verb, and what is said
 * of wrong ones. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "cli/everywhere.h"
#include "cli/globals.h"
#include "support/cmocka.h"
#include "support/heard.h"

static const struct option_spec everywhere[] = {
	OPTION_JSON,
	OPTION_PRETTY,
	OPTION_QUIET,
	OPTION_VERBOSE("tell more"),
	{"state", "DIR", OPTION_OWN, .help = "where"},
	OPTION_HELP,
	OPTION_VERSION,
	{0},
};

static const struct option_spec of_add[] = {
	{"list", "NAME", 'l', .letter = 'l'},
	{"rate", "RATE", 'p', .letter = 'p'},
	{0},
};

static const struct option_spec of_on[] = {{"only", "KIND", .id = 'o'}, {0}};

static const struct verb add = {
	.name = "add", .operands = {{.name = "ENTRY..."}}, .options = of_add};
static const struct verb on = {.above = "auto", .name = "on", .options = of_on};
static const struct verb *const below[] = {&on, NULL};
static const struct verb automatic = {.name = "auto", .below = below};

#define WORDS 16

struct arguments {
	char line[256], *argv[WORDS];
	int argc;
	char state[64];
	struct cli cli;
};

static struct arguments *now;

static bool take(struct cli *cli, int option, const char *value, bool *right)
{
	if (option != OPTION_OWN)
		return false;
	snprintf(now->state, sizeof(now->state), "%s", value);
	*right = strcmp(value, "wrong") != 0;
	return true;
}

static const struct cli_program program = {
	.verbs = below, .options = everywhere, .take = take, .closing = ""};

static void begin(struct arguments *arguments, const struct verb *verb, const char *line)
{
	char *rest = arguments->line, *word;

	*arguments = (struct arguments){.cli = {.program = &program, .verb = verb}, .state = "-"};
	snprintf(arguments->line, sizeof(arguments->line), "%s", line);
	while ((word = strsep(&rest, " "))) {
		assert_true(arguments->argc < WORDS - 1);
		arguments->argv[arguments->argc++] = word;
	}
	now = arguments;
	optind = 0;
	option_forget(everywhere);
	xb_error_clear();
}

/* "[jpqv] [state=VALUE] | WORDS": what was taken, and the words that are left from there on. */
static const char *taken(const struct arguments *arguments, int from)
{
	static char out[512];
	const struct cli *cli = &arguments->cli;

	snprintf(out, sizeof(out), "%s%s%s%s%s%s%s|", cli->json ? "j" : "", cli->pretty ? "p" : "",
		 cli->quiet ? "q" : "", cli->verbose ? "v" : "",
		 strcmp(arguments->state, "-") ? "state=" : "",
		 strcmp(arguments->state, "-") ? arguments->state : "",
		 cli->json || cli->quiet || cli->verbose || strcmp(arguments->state, "-") ? " "
											  : "");
	for (int i = from; i < arguments->argc; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), " %s", arguments->argv[i]);
	return out;
}

struct row {
	const char *line, *expected;
};

/* Returns the code; what is printed to both streams is of no interest here. */
static int parse(struct arguments *arguments, const char *line)
{
	struct hearing errors;
	int code;

	begin(arguments, NULL, line);
	hear(&errors, &stderr);
	code = globals_parse(&arguments->cli, arguments->argc, arguments->argv);
	heard(&errors);
	return code;
}

TEST(in_front)
{
	static const struct row rows[] = {
		{"p", "|"},
		{"p add", "| add"},
		{"p -q add -v", "q | add -v"},
		{"p -jqv add", "jqv | add"},
		{"p --pretty", "jp |"},
		{"p --state d add", "state=d | add"},
		{"p --state=d -q add", "qstate=d | add"},
		{"p --state= add", "state= | add"},
		{"p --state -q add", "state=-q | add"},
		{"p -q -- -v", "q | -v"},
		{"p - -v", "| - -v"},
	};
	struct arguments arguments;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&arguments, rows[i].line), -1);
		assert_string_equal(taken(&arguments, optind), rows[i].expected);
	}
}

#define LISTED "; xdp-bloom --help lists them"

TEST(wrong_ones_in_front)
{
	static const struct row rows[] = {
		{"p --state", "option '--state' needs a value"},
		{"p -q --state", "option '--state' needs a value"},
		{"p --sttae d", "unknown option '--sttae' (did you mean '--state'?)" LISTED},
		{"p --sttae=d", "unknown option '--sttae=d' (did you mean '--state'?)" LISTED},
		{"p --json=1", "option '--json' takes no value"},
		{"p --state a --state b add", "--state is given twice, with 'a' and 'b'"},
		{"p -state d", "unknown option '-state' (did you mean '--state'?)" LISTED},
		{"p --stat d", "unknown option '--stat' (did you mean '--state'?)" LISTED},
		{"p --stat=d", "unknown option '--stat=d' (did you mean '--state'?)" LISTED},
		{"p -x add", "unknown option '-x'" LISTED},
		{"p -xq add", "unknown option '-xq'" LISTED},
		{"p -q -qxq add", "unknown option '-qxq'" LISTED},
		{"p --state d -xq add", "unknown option '-xq'" LISTED},
		{"p --frobnicate", "unknown option '--frobnicate'" LISTED},
	};
	struct arguments arguments;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&arguments, rows[i].line), EXIT_USAGE);
		assert_string_equal(xb_error_message(), rows[i].expected);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
	/* For which its own function has the words. */
	assert_int_equal(parse(&arguments, "p --state wrong add"), EXIT_USAGE);
	assert_string_equal(xb_error_message(), "");
}

TEST(the_version)
{
	static const char *const lines[] = {"p -V", "p --version", "p -qV add"};
	struct arguments arguments;
	struct hearing answer;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int code;

		hear(&answer, &stdout);
		code = parse(&arguments, lines[i]);
		assert_string_equal(heard(&answer), "xdp-bloom " XB_VERSION "\n");
		assert_int_equal(code, EXIT_DONE);
	}
}

static void check_behind(const struct verb *verb, const struct row *row)
{
	struct arguments arguments;

	begin(&arguments, verb, row->line);
	assert_int_equal(globals_take(&arguments.cli, verb, &arguments.argc, arguments.argv), 0);
	assert_string_equal(taken(&arguments, 0), row->expected);
	assert_null(arguments.argv[arguments.argc]);
}

TEST(behind)
{
	static const struct row rows[] = {
		{"add", "| add"},
		{"add a b", "| add a b"},
		{"add -j a -q", "jq | add a"},
		{"add a -qjv", "jqv | add a"},
		{"add --pretty a", "jp | add a"},
		{"add --state d a", "state=d | add a"},
		{"add a --state=d", "state=d | add a"},
		{"add --state= a", "state= | add a"},
		{"add --state -q a", "state=-q | add a"},
		/* What begins another way is of the verb, or wrong: that one tells. */
		{"add -qx a", "| add -qx a"},
		{"add - --jso --json=1 -V -h", "| add - --jso --json=1 -V -h"},
		{"add -qh --statement", "| add -qh --statement"},
		{"add -- -q --json", "| add -- -q --json"},
		{"add -q --", "q | add --"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_behind(&add, &rows[i]);
}

TEST(those_of_the_verb_come_first)
{
	static const struct row rows[] =
		{
			{"add --list -q a", "| add --list -q a"},
			{"add --list=-q -q a", "q | add --list=-q a"},
			{"add -l -q a", "| add -l -q a"},
			{"add -lx -q a", "q | add -lx a"},
			{"add --list -- -q", "q | add --list --"},
			{"add --list", "| add --list"},
			/* Not the letter of --pretty, nor are those behind it. */
			{"add -p -q", "| add -p -q"},
			{"add -pq -q", "q | add -pq"},
			{"add -qp a", "jpq | add a"},
		},
				of_below[] = {
					{"auto -q", "q | auto"},
					{"auto on -q", "q | auto on"},
					{"auto on --only -q", "| auto on --only -q"},
					{"auto off --only -q", "q | auto off --only"},
					{"auto -p", "jp | auto"},
				};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_behind(&add, &rows[i]);
	for (size_t i = 0; i < sizeof(of_below) / sizeof(of_below[0]); i++)
		check_behind(&automatic, &of_below[i]);
}

#define USAGE "; usage: xdp-bloom add ENTRY... [--list NAME] [--rate RATE]"
#define HELP  "; xdp-bloom help add lists them"

/* As a verb does it: takes the options of every command, then its own. */
static int read_verb(struct arguments *arguments, const char *line)
{
	struct cli *cli = &arguments->cli;
	struct hearing errors;
	int code, option;

	begin(arguments, &add, line);
	hear(&errors, &stderr);
	code = globals_take(cli, &add, &arguments->argc, arguments->argv);
	while (!code && (option = cli_option(cli, arguments->argc, arguments->argv, of_add)) != -1)
		code = option == '?' ? EXIT_USAGE : 0;
	heard(&errors);
	return code;
}

TEST(wrong_ones_behind)
{
	static const struct row rows[] = {
		{"add --state", "option '--state' needs a value" USAGE},
		{"add a --list", "option '--list' needs a value" USAGE},
		{"add --list -q -l", "option '-l' needs a value" USAGE},
		{"add --lsit a", "unknown option '--lsit' (did you mean '--list'?)" HELP},
		{"add a --lsit=b", "unknown option '--lsit=b' (did you mean '--list'?)" HELP},
		/* Nothing of its own is near, but something that every command has. */
		{"add a --jsno", "unknown option '--jsno' (did you mean '--json'?)" HELP},
		{"add --json=1", "option '--json' takes no value"},
		{"add --state a x --state=b", "--state is given twice, with 'a' and 'b'"},
		{"add a -ist b", "unknown option '-ist'" HELP},
		{"add a -x", "unknown option '-x'" HELP},
		{"add a -xyz", "unknown option '-xyz'" HELP},
		{"add -l a -xyz", "unknown option '-xyz'" HELP},
		/* No beginnings of names, with a value or without one. */
		{"add --lis a", "unknown option '--lis' (did you mean '--list'?)" HELP},
		{"add --lis=a", "unknown option '--lis=a' (did you mean '--list'?)" HELP},
		{"add a --lis", "unknown option '--lis' (did you mean '--list'?)" HELP},
		{"add --l -x", "unknown option '--l' (did you mean '--list'?)" HELP},
	};
	struct arguments arguments;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_verb(&arguments, rows[i].line), EXIT_USAGE);
		assert_string_equal(xb_error_message(), rows[i].expected);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
	assert_int_equal(read_verb(&arguments, "add --state wrong"), EXIT_USAGE);
	assert_string_equal(xb_error_message(), "");
	assert_int_equal(read_verb(&arguments, "add -l a --rate 1 b -- -x"), 0);
	assert_int_equal(optind, 6);
}
