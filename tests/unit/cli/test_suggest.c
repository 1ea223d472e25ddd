/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody probably meant: how near a word has to be, and which of several is taken. */
#include <stdio.h>
#include <string.h>

#include "cli/suggest.h"
#include "support/cmocka.h"
#include "support/texts.h"

#define LETTERS_22 "abcdefghijklmnopqrstuv"
#define LETTERS_24 LETTERS_22 "wx"

/* The advice of one of the two functions. */
static const char *said(const struct verb *const *verbs, const struct option_spec *options,
			const char *word)
{
	static char out[SUGGEST_BYTES];

	memset(out, 'z', sizeof(out));
	assert_ptr_equal(
		verbs ? suggest_verb(verbs, word, out) : suggest_option(options, word, out), out);
	return out;
}

/* rows: "WORD -> ADVICE; WORD": nothing is near the latter. */
static void check(const struct verb *const *verbs, const struct option_spec *options,
		  const char *rows)
{
	struct texts texts = texts_of(rows);
	char *word, *near;

	while ((word = next_pair(&texts, &near))) {
		char advice[SUGGEST_BYTES] = "";

		if (near)
			snprintf(advice, sizeof(advice), " (did you mean '%s'?)", near);
		assert_row(word, said(verbs, options, word), advice);
	}
}

static void check_verbs(const char *names, const char *rows)
{
	struct verb verbs[8] = {0};
	const struct verb *list[9] = {0};
	struct texts texts = texts_of(names);
	const char *name;

	for (size_t i = 0; (name = next_text(&texts)); i++) {
		assert_true(i < 8);
		verbs[i].name = name;
		list[i] = &verbs[i];
	}
	check(list, NULL, rows);
}

static void check_options(const char *rows)
{
	static const struct option_spec table[] = {
		{.name = "list"},     {.name = "list-format"},	 {.name = "json"},
		{.name = LETTERS_22}, {.name = LETTERS_22 "wx"}, {0},
	};

	check(NULL, table, rows);
}

/* Left out, added, changed, swapped: each is one. */
TEST(each_kind_of_slip)
{
	check_verbs("add; status; import", "stats -> status; sttatus -> status; inport -> import; "
					   "improt -> import; dad -> add; mopxrt; ");
}

TEST(a_third_of_the_letters_may_be_wrong)
{
	check_verbs("abc", "abx -> abc; axx; ab -> abc; x");
	check_verbs("abcde", "abcdx -> abcde; abcxx");
	check_verbs("abcdef", "abcdxx -> abcdef; abcxxx");
	/* Of fewer than three, one; but not all that there are. */
	check_verbs("ab", "ax -> ab");
	check_verbs("a", "x; ");
}

TEST(the_nearest_is_taken)
{
	check_verbs("abcdxx; abcdex", "abcdef -> abcdex");
	check_verbs("abcdex; abcdxx", "abcdef -> abcdex");
	check_verbs("abcdex; abcdey", "abcdef -> abcdex"); /* else the first */
}

TEST(the_longest)
{
	check_verbs(LETTERS_24, LETTERS_22 "w -> " LETTERS_24);
	/* None is as long as this. */
	check_verbs(LETTERS_24, LETTERS_24 "y");
	check_verbs(LETTERS_24 "y", LETTERS_24);
	check_verbs(LETTERS_24 LETTERS_24 "; abc", "abd -> abc");
}

TEST(options)
{
	check_options(
		"--lsit -> --list; --list-fromat -> --list-format; -list -> --list; json; -x; ");
	/* Dashes are no letters that could be right. */
	check_options("--jxyn; --");
	check_options("--" LETTERS_22); /* the word itself is no advice */
	check_options("--" LETTERS_22 "= -> --" LETTERS_22);
	/* Too long to be asked about, also where the table has it. */
	check_options("--" LETTERS_22 "wx; --" LETTERS_22 "w");
	check(NULL, NULL, "--list");
	/* A value does not count. */
	check_options("--lsit=a-long-value-behind-it -> --list; --jsno= -> --json; =--list");
	check_options("--" LETTERS_22 "=" LETTERS_24 " -> --" LETTERS_22);
}

TEST(a_beginning_is_near)
{
	check_verbs("status; import", "s -> status; im -> import; ");
	check_options("--l -> --list; --list-f -> --list-format; --j=x -> --json; --");
}

TEST(words_of_other_programs)
{
	static const struct option_spec table[] = {{.name = "force"}, {.name = "timeout"}, {0}};

	check_verbs("add; del; list",
		    "remove -> del; rm -> del; ban -> add; block -> add; deny -> add");
	check_verbs("attach; detach; status; up", "start -> attach; stop -> detach; reload -> up");
	check_verbs("add; list", "remove");
	check(NULL, table, "--for -> --timeout; --expires=1d -> --timeout; --fo -> --force");
	check(NULL, table + 1, "--for -> --timeout");
}
