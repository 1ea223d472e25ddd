/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody probably meant: how near a word has to be, and which of several is taken. */
#include <stdio.h>
#include <string.h>

#include "cli/suggest.h"
#include "support/cmocka.h"

#define LETTERS_22 "abcdefghijklmnopqrstuv"
#define LETTERS_24 LETTERS_22 "wx"

/* expected: "" if nothing is near. */
static void check(const char *said, const char *expected)
{
	char whole[SUGGEST_BYTES] = "";

	if (*expected)
		snprintf(whole, sizeof(whole), " (did you mean '%s'?)", expected);
	assert_string_equal(said, whole);
}

/* names: separated by blanks. */
static void check_verb(const char *names, const char *word, const char *expected)
{
	struct verb verbs[8] = {0};
	const struct verb *list[9] = {0};
	char copy[256], *rest = copy, out[SUGGEST_BYTES], *name;

	snprintf(copy, sizeof(copy), "%s", names);
	for (size_t i = 0; (name = strsep(&rest, " ")); i++) {
		assert_true(i < 8);
		verbs[i].name = name;
		list[i] = &verbs[i];
	}
	memset(out, 'z', sizeof(out));
	assert_ptr_equal(suggest_verb(list, word, out), out);
	check(out, expected);
}

TEST(each_kind_of_slip)
{
	check_verb("add status import", "stats", "status");   /* left out */
	check_verb("add status import", "sttatus", "status"); /* added */
	check_verb("add status import", "inport", "import");  /* changed */
	check_verb("add status import", "improt", "import");  /* swapped, which is one slip */
	check_verb("add status import", "dad", "add");
	check_verb("add status import", "mopxrt", "");
	check_verb("add status import", "", "");
}

TEST(a_third_of_the_letters_may_be_wrong)
{
	check_verb("abc", "abx", "abc");
	check_verb("abc", "axx", "");
	check_verb("abcde", "abcdx", "abcde");
	check_verb("abcde", "abcxx", "");
	check_verb("abcdef", "abcdxx", "abcdef");
	check_verb("abcdef", "abcxxx", "");
	/* Of fewer than three, one. */
	check_verb("abc", "ab", "abc");
	check_verb("abc", "x", "");
	check_verb("ab", "ax", "ab");
	/* But not all that there are. */
	check_verb("a", "x", "");
	check_verb("a", "", "");
}

TEST(the_nearest_is_taken)
{
	check_verb("abcdxx abcdex", "abcdef", "abcdex");
	check_verb("abcdex abcdxx", "abcdef", "abcdex");
	check_verb("abcdex abcdey", "abcdef", "abcdex"); /* else the first */
}

TEST(the_longest)
{
	check_verb(LETTERS_24, LETTERS_22 "w", LETTERS_24);
	/* None is as long as this. */
	check_verb(LETTERS_24, LETTERS_24 "y", "");
	check_verb(LETTERS_24 "y", LETTERS_24, "");
	check_verb(LETTERS_24 LETTERS_24 " abc", "abd", "abc");
}

static void check_option(const char *word, const char *expected)
{
	static const struct option_spec table[] = {
		{.name = "list"},     {.name = "list-format"},	 {.name = "json"},
		{.name = LETTERS_22}, {.name = LETTERS_22 "wx"}, {0},
	};
	char out[SUGGEST_BYTES];

	memset(out, 'z', sizeof(out));
	assert_ptr_equal(suggest_option(table, word, out), out);
	check(out, expected);
}

TEST(options)
{
	char out[SUGGEST_BYTES] = "z";

	check_option("--lsit", "--list");
	check_option("--list-fromat", "--list-format");
	check_option("-list", "--list");
	check_option("json", "");
	/* Dashes are no letters that could be right. */
	check_option("--jxyn", "");
	check_option("--", "");
	check_option("-x", "");
	check_option("", "");
	check_option("--" LETTERS_22, ""); /* the word itself is no advice */
	check_option("--" LETTERS_22 "=", "--" LETTERS_22);
	/* Too long to be asked about, also where the table has it. */
	check_option("--" LETTERS_22 "wx", "");
	check_option("--" LETTERS_22 "w", "");
	assert_string_equal(suggest_option(NULL, "--list", out), "");
}

TEST(a_beginning_is_near)
{
	check_verb("status import", "s", "status");
	check_verb("status import", "im", "import");
	check_verb("status import", "", "");
	check_option("--l", "--list");
	check_option("--list-f", "--list-format");
	check_option("--j=x", "--json");
	check_option("--", "");
}

TEST(words_of_other_programs)
{
	static const struct option_spec table[] = {{.name = "force"}, {.name = "timeout"}, {0}};
	char out[SUGGEST_BYTES];

	check_verb("add del list", "remove", "del");
	check_verb("add del list", "rm", "del");
	check_verb("add del list", "ban", "add");
	check_verb("add list", "remove", "");
	check(suggest_option(table, "--for", out), "--timeout");
	check(suggest_option(table, "--expires=1d", out), "--timeout");
	check(suggest_option(table, "--fo", out), "--force");
	check(suggest_option(table + 1, "--for", out), "--timeout");
}

TEST(a_value_does_not_count)
{
	check_option("--lsit=a-long-value-behind-it", "--list");
	check_option("--jsno=", "--json");
	check_option("=--list", "");
	check_option("--" LETTERS_22 "=" LETTERS_24, "--" LETTERS_22);
}
