/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options as a table: what getopt_long() makes of them, and what is asked of the table alone; and
 * the options of every command, in front of it and behind it among those of the verb. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "cli/everywhere.h"
#include "cli/globals.h"
#include "cli/options.h"
#include "support/cmocka.h"
#include "support/heard.h"
#include "support/texts.h"

#define WORDS 16

struct row {
	const char *line, *expected;
};

/* The words of the line; ends with NULL. */
static int split(char *line, char *argv[WORDS])
{
	char *word;
	int argc = 0;

	while ((word = strsep(&line, " "))) {
		assert_true(argc < WORDS - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

/* --- a table --- */

static const struct option_spec table[] = {
	{"list-format", "FORMAT", 256, .help = ""},
	{"list", "NAME", 'l', .letter = 'l', .repeats = true},
	{"exist", NULL, 'e', .letter = 'e'},
	{"before", NULL, .help = ""},
	{"force", NULL, 257, .help = ""},
	{0},
};

static const struct option_spec choices[] = {
	{"size", "SIZE", 's', .help = ""},
	{"mode", "MODE", 'm', .help = ""},
	{"add", "WHAT", 'a', .repeats = true},
	{"up", NULL, 'u', .help = ""},
	{"down", NULL, 'd', .instead = true},
	{"help", NULL, 'h', .letter = 'h', .instead = true},
	{0},
};

static void print_option(FILE *out, int option)
{
	fprintf(out, option > UINT8_MAX ? "%d" : "%c", option);
	if (optarg)
		fprintf(out, "=%s", optarg);
	fputc(' ', out);
}

static void print_options(FILE *out, const struct option_spec *options, const char *how, int argc,
			  char **argv)
{
	char letters[OPTION_LETTERS];
	int option;

	option_letters(options, how, letters);
	while ((option = option_next(options, letters, argc, argv)) != -1) {
		if (option == '?')
			fprintf(out, "?%s", option_wrong(argv));
		else if (option == ':')
			fprintf(out, ":%s", argv[optind - 1]);
		else if (option == OPTION_CLASHES)
			fputs(option_clash(), out);
		else {
			print_option(out, option);
			continue;
		}
		return;
	}
	fputc('|', out);
	for (int i = optind; i < argc; i++)
		fprintf(out, " %s", argv[i]);
}

/* "ID[=VALUE] ... | OPERANDS": what is read of the line behind that of a program; at a wrong option
 * it ends, with '?' or ':' and the word that is told. */
static const char *read_line(const struct option_spec *options, const char *how, const char *line)
{
	static char text[256];
	char copy[256], *argv[WORDS];
	FILE *out;

	snprintf(copy, sizeof(copy), *line ? "program %s" : "program", line);
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	optind = opterr = 0;
	print_options(out, options, how, split(copy, argv), argv);
	fclose(out);
	return text;
}

/* rows: "LINE -> what is read of it". */
static void check(const struct option_spec *options, const char *how, const char *rows)
{
	struct texts texts = texts_of(rows);
	char *line, *expected;

	while ((line = next_pair(&texts, &expected)))
		assert_row(line, read_line(options, how, line), expected);
}

/* A value that looks like an option is one. */
TEST(options_and_operands)
{
	check(table, ":",
	      " -> |; a b -> | a b; a --list web b -> l=web | a b; --list=web -> l=web |; "
	      "--list= -> l= |; -l web -> l=web |; -lweb -> l=web |; -el web -> e l=web |; "
	      "-le web -> l=e | web; --force -> 257 |; --list --exist -> l=--exist |; "
	      "-l -- -e -> l=-- e |; -e -- -e --list -> e | -e --list; - -e -> e | -");
}

/* Whole names are, though another begins so; and a value is no name. */
TEST(a_beginning_is_no_name)
{
	check(table, ":",
	      "--ex -> ?--ex; --e -> ?--e; a --for 1d -> ?--for; --list-f x -> ?--list-f; "
	      "--list-f=x -> ?--list-f=x; --list-f -> ?--list-f; --list x -> l=x |; "
	      "--lis x -> ?--lis; --li=x -> ?--li=x; --existing -> ?--existing; "
	      "--list --ex -e -> l=--ex e |; -l --ex -e --force -> l=--ex e 257 |; "
	      "--list=--ex -e -> l=--ex e |; a --list --fo b --fo -> l=--fo ?--fo; "
	      "-- --ex -> | --ex");
}

/* getopt_long() stays at such a word as long as it has further letters. */
TEST(wrong_ones)
{
	check(table, ":",
	      "--frob -> ?--frob; a --frob=1 b -> ?--frob=1; --exist=yes -> ?--exist=yes; "
	      "--before -> ?--before; --list -> :--list; -e --list -> e :--list; a -l -> :-l; "
	      "a -el -> e :-el; -x -> ?-x; -xe -> ?-xe; -exe -> e ?-exe; -ex -> e ?-ex; "
	      "-e -xe -> e ?-xe; -e -x -> e ?-x; a -x -> ?-x; a -xe -> ?-xe; "
	      "a b -exe -> e ?-exe; - -xe -> ?-xe; - -x -> ?-x; --list a -xe -> l=a ?-xe; "
	      "-list x -> l=ist | x; -exist -> e ?-exist");
	check(table, "+:", "-e a -x -> e | a -x; -xe a -> ?-xe; -e -xe a -> e ?-xe; -x a -> ?-x");
	check(NULL, ":", " -> |; a -> | a; --list -> ?--list; -l x -> ?-l; a -le -> ?-le");
}

/* Each reading begins anew. */
TEST(contradictions)
{
	check(choices, ":",
	      "--mode a --size 1 -> m=a s=1 |; --mode a --mode a -> m=a m=a |; "
	      "--mode a x --mode b -> m=a --mode is given twice, with 'a' and 'b'; "
	      "--mode a --size 1 --mode=b -> m=a s=1 --mode is given twice, with 'a' and 'b'; "
	      "--mode b -> m=b |; --add a --add b -> a=a a=b |; --up --up -> u u |; "
	      "--up --down -> u --up and --down exclude each other; "
	      "--down --up -> d --down and --up exclude each other; --down -h -> d h |; "
	      "-- --up --down -> | --up --down");
}

/* However often the same is said before. */
TEST(contradiction_after_much)
{
	option_forget(choices);
	for (int i = 0; i < 8 * OPTIONS_MAX; i++)
		assert_true(option_give(choices, i % 2 ? "add" : "up", i % 2 ? "x" : NULL));
	assert_true(option_give(choices, "mode", "a"));
	assert_false(option_give(choices, "mode", "b"));
	assert_false(option_give(choices, "down", NULL));
	/* Of another table nothing was said. */
	assert_true(option_give(table, "list-format", "a"));
	assert_false(option_give(choices, "mode", "c"));
	option_forget(choices);
	assert_true(option_give(choices, "mode", "b"));
	assert_false(option_give(table, "list-format", "b"));
	option_forget(table);
}

/* The program ends by SIGABRT. */
static bool aborts_with(const struct option_spec *options)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		signal(SIGABRT, SIG_DFL);
		read_line(options, ":", "a");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(as_many_as_there_is_room_for)
{
	struct option_spec many[OPTIONS_MAX + 3] = {{.name = "before"}};
	char names[OPTIONS_MAX + 1][16];

	for (int i = 0; i < OPTIONS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "option-%d.", i);
		many[i + 1] = (struct option_spec){.name = names[i], .id = 256 + i};
	}
	assert_string_equal(read_line(many, ":", "--option-31. --option-0."), "287 256 |");
	assert_false(aborts_with(many));
	many[OPTIONS_MAX + 1] = (struct option_spec){.name = "more", .id = 1};
	assert_true(aborts_with(many));
}

TEST(letters)
{
	struct option_spec many[2 * OPTIONS_MAX + 1] = {0};
	struct {
		char text[OPTION_LETTERS];
		char behind;
	} out;

	memset(&out, 'z', sizeof(out));
	assert_ptr_equal(option_letters(table, "+:", out.text), out.text);
	assert_string_equal(out.text, "+:l:e");
	assert_string_equal(option_letters(NULL, ":", out.text), ":");
	assert_string_equal(option_letters(table, "", out.text), "l:e");
	for (int i = 0; i < 2 * OPTIONS_MAX; i++)
		many[i] = (struct option_spec){.name = "x", .value = "X", .letter = 'a'};
	memset(&out, 'z', sizeof(out));
	option_letters(many, ":", out.text);
	assert_in_range(strlen(out.text), 2 * OPTIONS_MAX + 1, OPTION_LETTERS - 1);
	assert_int_equal(out.behind, 'z');
}

/* It is so of each word of right in the table, and of none of wrong. */
static void ask(bool (*is)(const struct option_spec *options, const char *word), const char *right,
		const char *wrong)
{
	for (int i = 0; i < 2; i++) {
		struct texts texts = texts_of(i ? wrong : right);

		for (const char *word; (word = next_text(&texts));) {
			if (is(table, word) == i)
				fail_msg("'%s' is taken for the contrary", word);
			assert_false(is(NULL, word));
		}
	}
}

TEST(what_a_word_is)
{
	ask(option_is_valued, "--exist=yes; --force=", "--list=x; --exist; --exis=x; -e=x");
	ask(option_takes_next, "--list; --list-format; -l",
	    "; -; l; list; --list=x; --list=; -lx; -e; -el; --list-; --ex; --exist; --frob; "
	    "--listing; -x; --before");
	ask(option_known, "list; list-format; before", "list-; exis; exists; ");
}

/* --- the options of every command --- */

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

static char typed[256], *words[WORDS], place[64];
static int count;
static struct cli cli;

static bool take(struct cli *of, int option, const char *value, bool *right)
{
	if (option != OPTION_OWN)
		return false;
	snprintf(place, sizeof(place), "state=%s", value);
	*right = strcmp(value, "wrong") != 0;
	return true;
}

static const struct cli_program program = {
	.verbs = below, .options = everywhere, .take = take, .closing = ""};

static void begin(const struct verb *verb, const char *text)
{
	cli = (struct cli){.program = &program, .verb = verb};
	snprintf(typed, sizeof(typed), "%s", text);
	count = split(typed, words);
	place[0] = '\0';
	optind = 0;
	option_forget(everywhere);
	xb_error_clear();
}

/* "[jpqv][state=VALUE] | WORDS": what was taken, and the words that are left from there on. */
static const char *taken(int from)
{
	static char out[512];

	snprintf(out, sizeof(out), "%s%s%s%s%s", cli.json ? "j" : "", cli.pretty ? "p" : "",
		 cli.quiet ? "q" : "", cli.verbose ? "v" : "", place);
	strcat(out, *out ? " |" : "|");
	for (int i = from; i < count; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), " %s", words[i]);
	return out;
}

/* Returns the code; what is printed to both streams is of no interest here. */
static int parse(const char *text)
{
	struct hearing errors;
	int code;

	begin(NULL, text);
	hear(&errors, &stderr);
	code = globals_parse(&cli, count, words);
	heard(&errors);
	return code;
}

TEST(in_front)
{
	struct texts texts = texts_of(
		"p -> |; p add -> | add; p -q add -v -> q | add -v; p -jqv add -> jqv | add; "
		"p --pretty -> jp |; p --state d add -> state=d | add; "
		"p --state=d -q add -> qstate=d | add; p --state= add -> state= | add; "
		"p --state -q add -> state=-q | add; p -q -- -v -> q | -v; p - -v -> | - -v");
	char *text, *expected;

	while ((text = next_pair(&texts, &expected))) {
		assert_int_equal(parse(text), -1);
		assert_row(text, taken(optind), expected);
	}
}

TEST(the_version)
{
	static const char *const lines[] = {"p -V", "p --version", "p -qV add"};
	struct hearing answer;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int code;

		hear(&answer, &stdout);
		code = parse(lines[i]);
		assert_string_equal(heard(&answer), "xdp-bloom " XB_VERSION "\n");
		assert_int_equal(code, EXIT_DONE);
	}
}

/* rows: "LINE -> what is taken of it and left". */
static void check_behind(const struct verb *verb, const char *rows)
{
	struct texts texts = texts_of(rows);
	char *text, *expected;

	while ((text = next_pair(&texts, &expected))) {
		begin(verb, text);
		assert_int_equal(globals_take(&cli, verb, &count, words), 0);
		assert_row(text, taken(0), expected);
		assert_null(words[count]);
	}
}

/* What begins another way is of the verb, or wrong: that one tells. */
TEST(behind)
{
	check_behind(&add,
		     "add -> | add; add a b -> | add a b; add -j a -q -> jq | add a; "
		     "add a -qjv -> jqv | add a; add --pretty a -> jp | add a; "
		     "add --state d a -> state=d | add a; add a --state=d -> state=d | add a; "
		     "add --state= a -> state= | add a; add --state -q a -> state=-q | add a; "
		     "add -qx a -> | add -qx a; "
		     "add - --jso --json=1 -V -h -> | add - --jso --json=1 -V -h; "
		     "add -qh --statement -> | add -qh --statement; "
		     "add -- -q --json -> | add -- -q --json; add -q -- -> q | add --");
}

/* -p is not the letter of --pretty, nor are those behind it. */
TEST(those_of_the_verb_come_first)
{
	check_behind(&add,
		     "add --list -q a -> | add --list -q a; "
		     "add --list=-q -q a -> q | add --list=-q a; add -l -q a -> | add -l -q a; "
		     "add -lx -q a -> q | add -lx a; add --list -- -q -> q | add --list --; "
		     "add --list -> | add --list; add -p -q -> | add -p -q; "
		     "add -pq -q -> q | add -pq; add -qp a -> jpq | add a");
	check_behind(&automatic, "auto -q -> q | auto; auto on -q -> q | auto on; "
				 "auto on --only -q -> | auto on --only -q; "
				 "auto off --only -q -> q | auto off --only; auto -p -> jp | auto");
}

/* As a verb does it: takes the options of every command, then its own. */
static int read_verb(const char *text)
{
	struct hearing errors;
	int code, option;

	begin(&add, text);
	hear(&errors, &stderr);
	code = globals_take(&cli, &add, &count, words);
	while (!code && (option = cli_option(&cli, count, words, of_add)) != -1)
		code = option == '?' ? EXIT_USAGE : 0;
	heard(&errors);
	return code;
}

#define LISTED "; xdp-bloom --help lists them"
#define USAGE  "; usage: xdp-bloom add ENTRY... [--list NAME] [--rate RATE]"
#define HELP   "; xdp-bloom help add lists them"

/* What is said; which word of a line is wrong is asked of the table above. */
TEST(wrong_ones_in_front_and_behind)
{
	static const struct row rows[] = {
		{"p --state", "option '--state' needs a value"},
		{"p --sttae=d", "unknown option '--sttae=d' (did you mean '--state'?)" LISTED},
		{"p --json=1", "option '--json' takes no value"},
		{"p --state a --state b add", "--state is given twice, with 'a' and 'b'"},
		{"p -state d", "unknown option '-state' (did you mean '--state'?)" LISTED},
		{"p --stat d", "unknown option '--stat' (did you mean '--state'?)" LISTED},
		{"p --state d -xq add", "unknown option '-xq'" LISTED},
		/* For which its own function has the words. */
		{"p --state wrong add", ""},
		{"add --state", "option '--state' needs a value" USAGE},
		{"add a --list", "option '--list' needs a value" USAGE},
		{"add --list -q -l", "option '-l' needs a value" USAGE},
		{"add a --lsit=b", "unknown option '--lsit=b' (did you mean '--list'?)" HELP},
		/* Nothing of its own is near, but something that every command has. */
		{"add a --jsno", "unknown option '--jsno' (did you mean '--json'?)" HELP},
		{"add --json=1", "option '--json' takes no value"},
		{"add --state a x --state=b", "--state is given twice, with 'a' and 'b'"},
		{"add -l a -xyz", "unknown option '-xyz'" HELP},
		{"add a --lis", "unknown option '--lis' (did you mean '--list'?)" HELP},
		{"add --state wrong", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool front = rows[i].line[0] == 'p';

		assert_int_equal((front ? parse : read_verb)(rows[i].line), EXIT_USAGE);
		assert_row(rows[i].line, xb_error_message(), rows[i].expected);
		if (*rows[i].expected)
			assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
	assert_int_equal(read_verb("add -l a --rate 1 b -- -x"), 0);
	assert_int_equal(optind, 6);
}
