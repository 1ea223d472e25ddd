/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options as a table: what getopt_long() makes of them, and what is asked of the table alone. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/options.h"
#include "support/cmocka.h"

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

#define WORDS 16

/* The words of the line behind that of a program; ends with NULL. */
static int split(char *line, char *argv[WORDS])
{
	static char program[] = "program";
	char *rest = line, *word;
	int argc = 0;

	argv[argc++] = program;
	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		assert_true(argc < WORDS - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

__attribute__((format(printf, 3, 4))) static void add(char *out, size_t size, const char *format,
						      ...)
{
	size_t used = strlen(out);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(out + used, size - used, format, arguments);
	va_end(arguments);
}

static void add_option(char *out, size_t size, int option)
{
	if (option > UINT8_MAX)
		add(out, size, "%d", option);
	else
		add(out, size, "%c", option);
	if (optarg)
		add(out, size, "=%s", optarg);
	add(out, size, " ");
}

/* "ID[=VALUE] ... | OPERANDS": what is read of the line; at a wrong option it ends, with '?' or
 * ':' and the word that is told. */
static const char *read_line(const struct option_spec *options, const char *how, const char *line)
{
	static char out[256];
	char copy[256], letters[OPTION_LETTERS], *argv[WORDS];
	int argc, option;

	out[0] = '\0';
	snprintf(copy, sizeof(copy), "%s", line);
	argc = split(copy, argv);
	optind = opterr = 0;
	option_letters(options, how, letters);
	while ((option = option_next(options, letters, argc, argv)) != -1) {
		if (option == '?' || option == ':') {
			add(out, sizeof(out), "%c%s", option,
			    option == '?' ? option_wrong(argv) : argv[optind - 1]);
			return out;
		}
		if (option == OPTION_CLASHES) {
			add(out, sizeof(out), "%s", option_clash());
			return out;
		}
		add_option(out, sizeof(out), option);
	}
	add(out, sizeof(out), "|");
	for (int i = optind; i < argc; i++)
		add(out, sizeof(out), " %s", argv[i]);
	return out;
}

struct row {
	const char *line, *expected;
};

#define CHECK(options, how, rows)                                                                  \
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)                                \
	assert_string_equal(read_line(options, how, rows[i].line), rows[i].expected)

TEST(options_and_operands)
{
	static const struct row rows[] = {
		{"", "|"},
		{"a b", "| a b"},
		{"a --list web b", "l=web | a b"},
		{"--list=web", "l=web |"},
		{"--list=", "l= |"},
		{"-l web", "l=web |"},
		{"-lweb", "l=web |"},
		{"-el web", "e l=web |"},
		{"-le web", "l=e | web"},
		{"--force", "257 |"},
		/* A value that looks like an option is one. */
		{"--list --exist", "l=--exist |"},
		{"-l -- -e", "l=-- e |"},
		{"-e -- -e --list", "e | -e --list"},
		{"- -e", "e | -"},
	};

	CHECK(table, ":", rows);
}

TEST(a_beginning_is_no_name)
{
	static const struct row rows[] = {
		{"--ex", "?--ex"},
		{"--e", "?--e"},
		{"a --for 1d", "?--for"},
		{"--list-f x", "?--list-f"},
		{"--list-f=x", "?--list-f=x"},
		{"--list-f", "?--list-f"},
		{"--list x", "l=x |"}, /* whole, though another begins so */
		{"--lis x", "?--lis"},
		{"--li=x", "?--li=x"},
		{"--existing", "?--existing"},
		/* A value is no name. */
		{"--list --ex -e", "l=--ex e |"},
		{"--list --ex -el x", "l=--ex e l=x |"},
		{"-l --ex -e --force", "l=--ex e 257 |"},
		{"--list=--ex -e", "l=--ex e |"},
		{"a --list --fo b --fo", "l=--fo ?--fo"},
		{"-- --ex", "| --ex"},
	};

	CHECK(table, ":", rows);
}

TEST(wrong_ones)
{
	static const struct row rows[] = {
		{"--frob", "?--frob"},
		{"a --frob=1 b", "?--frob=1"},
		{"--exist=yes", "?--exist=yes"},
		{"--before", "?--before"}, /* it is taken before */
		{"--list", ":--list"},
		{"-e --list", "e :--list"},
		{"a -l", ":-l"},
		{"a -el", "e :-el"},
	};

	CHECK(table, ":", rows);
}

/* getopt_long() stays at such a word as long as it has further letters. */
TEST(wrong_letters)
{
	static const struct row rows[] = {
		{"-x", "?-x"},
		{"-xe", "?-xe"},
		{"-exe", "e ?-exe"},
		{"-ex", "e ?-ex"},
		{"-e -xe", "e ?-xe"},
		{"-e -x", "e ?-x"},
		{"a -x", "?-x"},
		{"a -xe", "?-xe"},
		{"a b -exe", "e ?-exe"},
		{"- -xe", "?-xe"},
		{"- -x", "?-x"},
		{"--list a -xe", "l=a ?-xe"},
		{"--list -a b -xe", "l=-a ?-xe"},
		{"-list x", "l=ist | x"},
		{"-exist", "e ?-exist"},
	};

	CHECK(table, ":", rows);
}

TEST(operands_end_what_stands_in_front)
{
	static const struct row rows[] = {
		{"-e a -x", "e | a -x"}, {"-xe a", "?-xe"},	{"-e -xe a", "e ?-xe"},
		{"-x a", "?-x"},	 {"-frob a", "?-frob"},
	};

	CHECK(table, "+:", rows);
}

TEST(contradictions)
{
	static const struct row rows[] = {
		{"--mode a --size 1", "m=a s=1 |"},
		{"--mode a --mode a", "m=a m=a |"},
		{"--mode a x --mode b", "m=a --mode is given twice, with 'a' and 'b'"},
		{"--mode a --size 1 --mode=b", "m=a s=1 --mode is given twice, with 'a' and 'b'"},
		/* Each reading begins anew. */
		{"--mode b", "m=b |"},
		{"--add a --add b", "a=a a=b |"},
		{"--up --up", "u u |"},
		{"--up --down", "u --up and --down exclude each other"},
		{"--down --up", "d --down and --up exclude each other"},
		{"--down -h", "d h |"},
		{"-- --up --down", "| --up --down"},
	};

	CHECK(choices, ":", rows);
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

TEST(values_that_are_not_taken)
{
	assert_true(option_is_valued(table, "--exist=yes"));
	assert_true(option_is_valued(table, "--force="));
	assert_false(option_is_valued(table, "--list=x"));
	assert_false(option_is_valued(table, "--exist"));
	assert_false(option_is_valued(table, "--exis=x"));
	assert_false(option_is_valued(table, "-e=x"));
	assert_false(option_is_valued(NULL, "--exist=yes"));
}

TEST(no_table)
{
	static const struct row rows[] = {
		{"", "|"}, {"a", "| a"}, {"--list", "?--list"}, {"-l x", "?-l"}, {"a -le", "?-le"},
	};

	CHECK(NULL, ":", rows);
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
	assert_true(strlen(out.text) < OPTION_LETTERS);
	assert_true(strlen(out.text) > (size_t)2 * OPTIONS_MAX);
	assert_int_equal(out.behind, 'z');
}

TEST(whose_value_is_the_next_word)
{
	static const char *const takes[] = {"--list", "--list-format", "-l"};
	static const char *const takes_not[] = {
		"",    "-",	  "l",	  "list",    "--list=x", "--list=",   "-lx", "-e",
		"-el", "--list-", "--ex", "--exist", "--frob",	 "--listing", "-x",  "--before",
	};

	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		assert_true(option_takes_next(table, takes[i]));
		assert_false(option_takes_next(NULL, takes[i]));
	}
	for (size_t i = 0; i < sizeof(takes_not) / sizeof(takes_not[0]); i++)
		assert_false(option_takes_next(table, takes_not[i]));
}

TEST(known_by_its_whole_name)
{
	assert_true(option_known(table, "list"));
	assert_true(option_known(table, "list-format"));
	assert_true(option_known(table, "before"));
	assert_false(option_known(table, "list-"));
	assert_false(option_known(table, "exis"));
	assert_false(option_known(table, "exists"));
	assert_false(option_known(table, ""));
	assert_false(option_known(NULL, "list"));
}
